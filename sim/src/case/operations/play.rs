//! Making a case's operations in a world, in one attempt of one activation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use serde_json::Value;
use windtunnel_core::BoxError;
use windtunnel_core::durable::{Ending, JournalStore, OperationCall, Record, Turn, Worker, Workflow, WorkflowContext};

use super::definition::{CaseStep, OperationsCase};
use super::outcome::{FinishedOperation, OperationsOutcome};
use crate::WorldHandle;
use crate::case::cassettes::Replayed;
use crate::case::store::Keeping;
use crate::case::trouble::Setting;
use crate::case::{CaseOutcome, CaseRun};
use crate::fault::Faults;
use crate::script::{Invocation, Invocations};

/// The names of what the case does not name.
const WORKFLOW: &str = "case";
const ENTRY: &str = "start";

/// What is known of a run so far. It is kept outside the world, and so survives one that comes to no end.
#[derive(Clone)]
struct Log {
    operations: Arc<Mutex<Vec<Option<FinishedOperation>>>>,
    journal: Arc<Mutex<Vec<Arc<Record>>>>,
    decided: Arc<AtomicBool>,
    invocations: Invocations,
}

impl OperationsCase {
    pub(super) fn play_with(&self, setting: &Setting, keeping: &Keeping) -> CaseRun {
        let log = Log {
            operations: Arc::new(Mutex::new(vec![None; self.steps.len()])),
            journal: Arc::new(Mutex::new(self.journal.clone())),
            decided: Arc::default(),
            invocations: Invocations::default(),
        };
        let takes_faults = setting.takes_faults;
        let world = setting.world.run(|world| self.play(world, keeping, &log, takes_faults));
        let outcome = OperationsOutcome {
            operations: log.operations.lock().clone(),
            journal: log.journal.lock().clone(),
            decided: log.decided.load(Ordering::Relaxed),
        };
        let invocations = log.invocations.to_vec();
        let (cut_off, replayed) = (None, Replayed::default());
        CaseRun { outcome: CaseOutcome::Operations(outcome), invocations, cut_off, replayed, world }
    }

    async fn play(&self, world: WorldHandle, keeping: &Keeping, log: &Log, takes_faults: bool) -> Result<(), BoxError> {
        let store = keeping.open(world.env()).await?;
        store.script_records(self.acknowledgments.iter().copied());
        let faults = takes_faults.then(|| world.faults());
        let worker = match &faults {
            Some(faults) => Worker::new(faults.journal(store.clone())),
            None => Worker::new(store.clone()),
        };
        let worker = worker.env(world.env()).sink(world.trace()).workflow(self.workflow(log, faults));
        worker.start(WORKFLOW, WORKFLOW, ENTRY, &Value::Null).await?;
        store.seed(WORKFLOW, &self.journal).await?;
        // One attempt: a case says what becomes of it, and not of those after it.
        let turn = worker.turn().await?;
        let is_decided = matches!(turn, Turn::Attempt { ending: Ending::Decided { .. }, .. });
        log.decided.store(is_decided, Ordering::Relaxed);
        if let Some(history) = store.read(WORKFLOW).await? {
            let records = history.activations.into_iter().flat_map(|activation| activation.records);
            *log.journal.lock() = records.map(|committed| committed.record).collect();
        }
        Ok(())
    }

    fn workflow(&self, log: &Log, faults: Option<Faults>) -> Workflow {
        let (steps, log) = (Arc::clone(&self.steps), log.clone());
        Workflow::new(WORKFLOW).entry(ENTRY, move |context: WorkflowContext, _: Value| {
            let (steps, log, faults) = (Arc::clone(&steps), log.clone(), faults.clone());
            async move {
                for (index, step) in steps.iter().enumerate() {
                    let finished = make(&context, step, &log.invocations, faults.clone()).await;
                    log.operations.lock()[index] = Some(finished);
                }
                context.complete(&Value::Null)
            }
        })
    }
}

async fn make(
    context: &WorkflowContext,
    step: &CaseStep,
    invocations: &Invocations,
    faults: Option<Faults>,
) -> FinishedOperation {
    let CaseStep { key, kind, callable, version, arguments, answer } = step;
    let executed = Arc::new(AtomicBool::new(false));
    let (tool, given) = (Arc::from(callable.as_str()), Arc::new(arguments.clone()));
    let (is_executed, invocations, answer) = (Arc::clone(&executed), invocations.clone(), answer.clone());
    let body = move |_: Value, call: OperationCall| async move {
        is_executed.store(true, Ordering::Relaxed);
        let work = || {
            let (tool, arguments, call_id) = (Arc::clone(&tool), Arc::clone(&given), Arc::clone(&call.idempotency_key));
            invocations.push(Invocation { tool, arguments, call_id, attempt: 1 });
            std::future::ready(answer.clone().map_err(BoxError::from))
        };
        match faults {
            Some(faults) => faults.call(&tool, work).await,
            None => work().await,
        }
    };
    let result = context.operation(key, *kind, callable, version, arguments.clone(), body).await;
    FinishedOperation { key: key.as_str().into(), result, executed: executed.load(Ordering::Relaxed) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::case::{Case, Format};

    #[test]
    fn assertions_see_the_operations() {
        let step = |key: &str, version: &str| {
            json!({
                "key": key, "kind": "tool", "callable": "agent:pay", "version": version, "arguments": {"n": 1},
                "returns": [key],
            })
        };
        let case = json!({
            "steps": [step("a", "1"), step("a", "1"), step("a", "2"), step("b", "1"), step("b", "1")],
            "acks": ["ok", "rejected"],
            "always": [
                {"that": "results.map(r, r.executed) == [true, false, false, true, false]"},
                {"that": "results[1].value == ['a'] && results[1].status == 'ok' && results[1].error == null"},
                {"that": "results[2].error == 'binding-mismatch' && results[2].message.contains('version')"},
                {"that": "results[3].error == 'commit-unacknowledged' && results[4].error == 'activation-poisoned'"},
                {"each": "results", "that": "it.callable == 'agent:pay' && it.kind == 'tool' && it.version in ['1', '2']"},
                {"each": "journal", "that": "it.key == 'a' && it.callable == 'tool:agent:pay'"},
                {"that": "!decided && invocations.map(i, i.tool) == ['agent:pay', 'agent:pay'] && elapsed_ms == 0.0"},
                {"that": "events.filter(e, e.type == 'operation.executed').size() == invocations.size()"},
            ],
        });
        let case = Case::parse("f", Format::Json, &case.to_string()).unwrap().remove(0);
        let run = case.run(0);
        assert_eq!(case.judge(&run).failures(), Vec::<String>::new());
        assert_eq!(case.run(0).digest(), run.digest());
    }

    #[test]
    fn a_run_of_a_case_of_another_kind_is_no_run_of_this_one() {
        let parse = |text: &str| Case::parse("f", Format::Json, text).unwrap().remove(0);
        let operations = parse(r#"{"steps": [], "expect": {"decided": true}}"#);
        let calls = parse(r#"{"tools": [], "calls": []}"#);
        assert_eq!(operations.judge(&calls.run(0)).failures(), ["$.expect.decided: expected true, found false"]);
        assert!(calls.judge(&operations.run(0)).passed());
    }
}
