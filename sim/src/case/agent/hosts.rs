//! A case's agent on hosts: each worker, the model, the tools and the journal on their own, with a network between them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use windtunnel_core::BoxFuture;
use windtunnel_core::durable::remote::{RemoteStore, serve};
use windtunnel_core::durable::{JournalStore, Worker};
use windtunnel_core::tool::{RegisterError, Registry, ToolSpec};

use super::blueprint::Blueprint;
use super::definition::AgentCase;
use super::hosted::{HostedModel, HostedStore, HostedTool};
use super::scene::Scene;
use super::tools::OutsideTool;
use crate::service::{RemoteModel, RemoteTool, serve_model, serve_tools};
use crate::{HostError, Process, TcpStream, WorldHandle};

/// The host of workers; with several, they are numbered from 1.
pub(super) const AGENT: &str = "agent";
pub(super) const MODEL: &str = "model";
pub(super) const JOURNAL: &str = "journal";
/// The host of tools that name none.
pub(super) const TOOLS: &str = "tools";

/// The port of every service.
const PORT: u16 = 7000;

/// How often a worker looks for what there is to do.
const POLL: Duration = Duration::from_secs(20);

/// How long a worker waits for the model, beyond the time that the model takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a worker is started with.
#[derive(Clone)]
struct Start {
    blueprint: Blueprint,
    tools: Arc<[(ToolSpec, String)]>,
    patience: Duration,
}

impl AgentCase {
    /// Starts all hosts, those that are asked before those that ask.
    pub(super) fn start_hosts(&self, world: &WorldHandle, scene: &Arc<Scene>) -> Result<(), HostError> {
        let mut of_host: BTreeMap<&str, Vec<Arc<OutsideTool>>> = BTreeMap::new();
        for (tool, outside) in self.tools.iter().zip(&scene.tools) {
            of_host.entry(tool.host()).or_default().push(Arc::clone(outside));
        }
        let serving = Arc::clone(scene);
        world.host(JOURNAL)?.start(move |process| journal(process, Arc::clone(&serving)));
        let serving = Arc::clone(scene);
        world.host(MODEL)?.start(move |process| model(process, Arc::clone(&serving)));
        for (name, tools) in of_host {
            let serving = Arc::clone(scene);
            world.host(name)?.start(move |process| answer(process, Arc::clone(&serving), tools.clone()));
        }
        let recorded = self.cassette.map(|cassette| self.shelf.slowest(cassette));
        let slowest = self.turns.iter().map(|turn| turn.delay.max).chain(recorded).max().unwrap_or_default();
        let start = Start {
            blueprint: Blueprint::of(self),
            tools: self.tools.iter().map(|tool| (tool.tool.spec.clone(), tool.host().to_owned())).collect(),
            patience: PATIENCE.saturating_add(slowest),
        };
        for name in self.agent_hosts() {
            let start = start.clone();
            world.host(&name)?.start(move |process| work(process, start.clone()));
        }
        Ok(())
    }

    /// The names of all hosts, in the order in which they are started.
    pub(super) fn host_names(&self) -> Vec<String> {
        let of_tools: BTreeSet<_> = self.tools.iter().map(|tool| tool.host().to_owned()).collect();
        [JOURNAL.to_owned(), MODEL.to_owned()].into_iter().chain(of_tools).chain(self.agent_hosts()).collect()
    }

    /// The names of the workers' hosts.
    fn agent_hosts(&self) -> Vec<String> {
        match self.workers.count.get() {
            1 => vec![AGENT.to_owned()],
            count => (1..=count).map(|worker| format!("{AGENT}-{worker}")).collect(),
        }
    }
}

async fn journal(process: Process, scene: Arc<Scene>) {
    let store: Arc<dyn JournalStore> = Arc::new(process.faults().journal(HostedStore { scene }));
    let Ok(listener) = process.listen(PORT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let store = Arc::clone(&store);
        // A stream that breaks is its client's to notice.
        let _serving = process.spawn(async move { serve(store, stream).await.is_ok() });
    }
}

async fn model(process: Process, scene: Arc<Scene>) {
    let model = process.faults().model(HostedModel { outside: Arc::clone(&scene.model) });
    let _ended = serve_model(process, PORT, model).await;
}

async fn answer(process: Process, scene: Arc<Scene>, tools: Vec<Arc<OutsideTool>>) {
    let mut registry = Registry::new();
    for tool in &tools {
        // The names are those that the file was checked for.
        if registry.register(process.faults().tool(HostedTool::new(tool, &scene, &process))).is_err() {
            return;
        }
    }
    let _ended = serve_tools(process, PORT, registry).await;
}

async fn work(process: Process, start: Start) {
    let Ok(tools) = remote_tools(&process, &start) else { return };
    let model = RemoteModel::new(process.env(), connect(&process, MODEL)).timeout(start.patience);
    let store = RemoteStore::new(process.env(), connect(&process, JOURNAL));
    let worker = Worker::new(store).poll_every(POLL);
    let worker = start.blueprint.worker(worker, process.env(), process.trace(), tools, Arc::new(model));
    worker.run().await;
}

fn remote_tools(process: &Process, start: &Start) -> Result<Registry, RegisterError> {
    let mut tools = Registry::new();
    for (spec, host) in &*start.tools {
        tools.register(RemoteTool::new(spec.clone(), connect(process, host)))?;
    }
    Ok(tools)
}

/// How to get a connection to a host.
fn connect(
    process: &Process,
    host: &str,
) -> impl Fn() -> BoxFuture<'static, io::Result<TcpStream>> + Send + Sync + 'static {
    let (process, host) = (process.clone(), host.to_owned());
    move || {
        let (process, host) = (process.clone(), host.clone());
        Box::pin(async move { process.connect(&host, PORT).await })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::case::{Case, Format};

    fn case(fields: Value) -> Case {
        let mut case = json!({
            "on_hosts": true,
            "model": {"turns": [{"calls": [{"id": "a", "name": "pay"}]}, {"says": "paid"}]},
            "tools": [{"name": "pay", "host": "bank", "timeout_s": 5, "retries": 2}],
        });
        let Value::Object(fields) = fields else { panic!("fields are an object") };
        fields.into_iter().for_each(|(name, field)| case[name] = field);
        Case::parse("f", Format::Json, &case.to_string()).unwrap().remove(0)
    }

    #[track_caller]
    fn check(fields: Value) {
        let case = case(fields);
        for seed in 0..3 {
            let run = case.check_determinism(seed).unwrap();
            assert_eq!(case.judge(&run).failures(), Vec::<String>::new(), "seed {seed}");
        }
    }

    #[test]
    fn each_part_is_on_its_host_and_what_is_known_of_an_agent_is_known_of_it_there() {
        check(json!({
            "workers": {"count": 2},
            "always": [
                {"that": "outcome.status == 'completed' && outcome.answer == 'paid' && model_requests == 2"},
                {"that": "events.exists(e, e.host == 'bank' && e.type == 'effect.happened' && e.data.effect == 'pay')"},
                {"that": "events.filter(e, e.type == 'journal.commit').all(e, e.host == 'journal')"},
                {"that": "events.filter(e, e.type == 'model.request').all(e, e.host == 'model')"},
                {"that": "events.filter(e, e.type == 'host.started').map(e, e.host) == \
                          ['journal', 'model', 'bank', 'agent-1', 'agent-2']"},
                {"each": "effects", "that": "it.operation == 'tool:turn:0:a' && it.activation == 1 && it.call_id == 'a'"},
                {"that": "effects.size() == 1 && effects[0].happened && size(effects[0].idempotency_key) == 64"},
                {"that": "activations.map(a, a.executed) == [2, 1] && journal.size() == 3"},
            ],
        }));
    }

    #[test]
    fn an_approval_is_found_and_decided() {
        check(json!({
            "tools": [{"name": "pay", "host": "bank", "confirm": true}],
            "approvals": [{"call": "a", "after_s": 30, "decision": "approve"}],
            "always": [{"that": "outcome.answer == 'paid' && approvals.map(a, a.delivery) == ['accepted']"}],
        }));
        check(json!({
            "tools": [{"name": "pay", "host": "bank", "confirm": true}],
            "always": [{"that": "outcome.status == 'waiting' && outcome.waits_for == 'approval:turn:0:a'"}],
        }));
    }

    #[test]
    fn a_host_that_crashes_after_the_effect_pays_again_under_the_same_key() {
        let crash = json!({
            "when": {"event": "effect.happened"}, "do": {"fault": "host.crash", "host": "agent", "restart_after_s": 1},
        });
        let twice =
            "effects.size() == 2 && effects[1].repeat && effects[0].idempotency_key == effects[1].idempotency_key";
        let always =
            |happened: &str| json!([{"that": twice}, {"that": happened}, {"that": "faults[0].host == 'agent'"}]);
        check(json!({"faults": [crash], "always": always("effects[1].happened")}));
        check(json!({
            "faults": [crash], "always": always("!effects[1].happened"),
            "tools": [{"name": "pay", "host": "bank", "timeout_s": 5, "idempotent": true}],
        }));
    }
}
