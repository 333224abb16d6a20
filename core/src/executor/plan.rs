//! A dependency graph of calls whose arguments refer to earlier results.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;

use super::call::ToolCall;
use super::flow::{self, Target};
use super::handle::Executor;
use super::result::ToolResult;
use super::run::RunGuard;
use crate::json::Path;
use crate::tool::Interrupted;

/// The member that makes an object a reference.
const REFERENCE: &str = "$result";

/// Steps that run as soon as what they need is there.
///
/// Anywhere in a step's arguments, `{"$result": "ID"}` stands for the value of step `ID`, and
/// `{"$result": "ID#/items/0"}` for a part of it (an RFC 6901 pointer). A step may also wait for another without using
/// its value.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::executor::{Plan, PlanStep, ToolCall};
///
/// let plan = Plan::new([
///     PlanStep::new("find", ToolCall::new("search", json!({"query": "warranty"}))),
///     PlanStep::new("read", ToolCall::new("fetch", json!({"page": {"$result": "find#/pages/0"}}))),
/// ])?;
/// # Ok::<(), windtunnel_core::executor::PlanError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    steps: Vec<PlanStep>,
    /// What each step waits for.
    needs: Vec<BTreeSet<usize>>,
}

/// One call of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanStep {
    /// The step's name in references.
    pub id: String,
    /// The call, with references in its arguments.
    pub call: ToolCall,
    /// Steps to wait for besides those its arguments refer to.
    pub after: Vec<String>,
}

impl PlanStep {
    /// A step that waits only for what its arguments refer to.
    pub fn new(id: impl Into<String>, call: ToolCall) -> Self {
        Self { id: id.into(), call, after: Vec::new() }
    }

    /// Also waits for the step `id`.
    #[must_use]
    pub fn after(mut self, id: impl Into<String>) -> Self {
        self.after.push(id.into());
        self
    }
}

/// A plan that cannot run. Nothing of it ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Two steps have one id.
    #[error("two steps have the id {id:?}")]
    DuplicateStep {
        /// The id.
        id: String,
    },
    /// A step refers to one that is not there.
    #[error("step {step:?} refers to {id:?}, which is not a step of the plan ({path})")]
    UnknownStep {
        /// The step that refers.
        step: String,
        /// What it refers to.
        id: String,
        /// Where in its arguments; `$` when in `after`.
        path: Path,
    },
    /// A reference that is not a string, has a pointer that is none, or has other members beside it.
    #[error(
        "step {step:?} has a reference at {path} that is not alone in its object with a string such as \"ID\" or \
         \"ID#/items/0\""
    )]
    MalformedReference {
        /// The step.
        step: String,
        /// Where in its arguments.
        path: Path,
    },
    /// Steps that wait for each other.
    #[error("steps wait for each other: {}", .steps.join(" → "))]
    Cycle {
        /// The steps in order; the first is also the last.
        steps: Vec<String>,
    },
}

/// How one step ended.
#[derive(Clone, Debug)]
pub struct StepResult {
    /// The step.
    pub id: String,
    /// Its result, or why it did not run.
    pub outcome: StepOutcome,
}

/// What became of a step.
#[derive(Clone, Debug)]
pub enum StepOutcome {
    /// The call was made.
    Finished(ToolResult),
    /// The call was not made.
    Skipped(Skipped),
}

/// Why a call of a plan was not made: a step that it needs has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The step that has no value.
    pub needs: String,
    /// Why it has none.
    pub reason: String,
}

impl StepOutcome {
    /// The result of a call that was made.
    pub fn result(&self) -> Option<&ToolResult> {
        match self {
            Self::Finished(result) => Some(result),
            Self::Skipped(_) => None,
        }
    }
}

impl Plan {
    /// Checks that every reference can be followed.
    ///
    /// # Errors
    /// [`PlanError`] for the first step that cannot be: a duplicate, an unknown or malformed reference, a cycle.
    pub fn new(steps: impl IntoIterator<Item = PlanStep>) -> Result<Self, PlanError> {
        let steps: Vec<_> = steps.into_iter().collect();
        let mut indices = BTreeMap::new();
        for (index, step) in steps.iter().enumerate() {
            if indices.insert(step.id.as_str(), index).is_some() {
                return Err(PlanError::DuplicateStep { id: step.id.clone() });
            }
        }
        let needs = steps.iter().map(|step| needs_of(step, &indices)).collect::<Result<Vec<_>, _>>()?;
        if let Some(cycle) = find_cycle(&needs) {
            let steps = cycle.into_iter().map(|index| steps[index].id.clone()).collect();
            return Err(PlanError::Cycle { steps });
        }
        Ok(Self { steps, needs })
    }
}

fn needs_of(step: &PlanStep, indices: &BTreeMap<&str, usize>) -> Result<BTreeSet<usize>, PlanError> {
    let mut needs = BTreeSet::new();
    let mut need = |id: &str, path: Path| match indices.get(id) {
        Some(index) => {
            needs.insert(*index);
            Ok(())
        }
        None => Err(PlanError::UnknownStep { step: step.id.clone(), id: id.to_owned(), path }),
    };
    for id in &step.after {
        need(id, Path::root())?;
    }
    let mut pending = vec![(&step.call.arguments, Path::root())];
    while let Some((value, path)) = pending.pop() {
        match reference(value) {
            Some(Some(text)) => need(split(text).0, path)?,
            Some(None) => return Err(PlanError::MalformedReference { step: step.id.clone(), path }),
            None => pending.extend(parts(value, &path)),
        }
    }
    Ok(needs)
}

fn parts<'a>(value: &'a Value, path: &Path) -> Vec<(&'a Value, Path)> {
    match value {
        Value::Array(elements) => {
            elements.iter().enumerate().map(|(index, element)| (element, path.clone().element(index))).collect()
        }
        Value::Object(members) => members.iter().map(|(name, member)| (member, path.clone().member(name))).collect(),
        _ => Vec::new(),
    }
}

/// The text of a value that is a reference; `Some(None)` if it should be one but cannot be followed.
fn reference(value: &Value) -> Option<Option<&str>> {
    let members = value.as_object()?;
    let reference = members.get(REFERENCE)?;
    let is_well_formed = |text: &&str| {
        let pointer = split(text).1;
        members.len() == 1 && (pointer.is_empty() || pointer.starts_with('/'))
    };
    Some(reference.as_str().filter(is_well_formed))
}

/// The step and the pointer of a reference.
fn split(text: &str) -> (&str, &str) {
    text.split_once('#').unwrap_or((text, ""))
}

/// Steps that wait for each other, the first again at the end.
fn find_cycle(needs: &[BTreeSet<usize>]) -> Option<Vec<usize>> {
    // Steps that can run one after the other are taken away until only those in or behind a cycle are left.
    let mut needed_by = vec![Vec::new(); needs.len()];
    for (step, needs) in needs.iter().enumerate() {
        needs.iter().for_each(|need| needed_by[*need].push(step));
    }
    let mut open: Vec<usize> = needs.iter().map(BTreeSet::len).collect();
    let mut left: BTreeSet<usize> = (0..needs.len()).collect();
    let mut ready: Vec<usize> = left.iter().copied().filter(|step| open[*step] == 0).collect();
    while let Some(step) = ready.pop() {
        left.remove(&step);
        for next in &needed_by[step] {
            open[*next] -= 1;
            if open[*next] == 0 {
                ready.push(*next);
            }
        }
    }
    let mut walk = vec![*left.first()?];
    loop {
        let step = *walk.last()?;
        let next = *needs[step].intersection(&left).next()?;
        if let Some(start) = walk.iter().position(|seen| *seen == next) {
            walk.push(next);
            return Some(walk.split_off(start));
        }
        walk.push(next);
    }
}

impl Executor {
    /// Runs the plan's calls in one run, each as soon as the steps it needs have their values. Gives the results in the
    /// order of the steps. A pre-approval covers none of them (E8).
    ///
    /// A step that needs one without a value (failed, pending, skipped, or lacking the part referred to) is skipped, and
    /// says which.
    ///
    /// # Errors
    /// [`Interrupted`] as soon as control flow passes through a call; the others are then dropped.
    pub async fn run_plan(&self, plan: &Plan) -> Result<Vec<StepResult>, Interrupted> {
        let run = self.enter_run();
        let mut outcomes: Vec<Option<StepOutcome>> = vec![None; plan.steps.len()];
        let mut waiting: BTreeSet<usize> = (0..plan.steps.len()).collect();
        let mut running = FuturesUnordered::new();
        loop {
            for index in plan.take_ready(&mut waiting, &outcomes) {
                match plan.resolve(index, &outcomes) {
                    Ok(call) => running.push(self.run_step(&run, index, call)),
                    Err(skipped) => outcomes[index] = Some(StepOutcome::Skipped(skipped)),
                }
            }
            match running.next().await {
                Some(finished) => {
                    let (index, result) = finished?;
                    outcomes[index] = Some(StepOutcome::Finished(result));
                }
                // A skipped step may have made others ready.
                None if waiting.is_empty() => break,
                None => {}
            }
        }
        let results = plan.steps.iter().zip(outcomes);
        Ok(results.filter_map(|(step, outcome)| Some(StepResult { id: step.id.clone(), outcome: outcome? })).collect())
    }

    async fn run_step(&self, run: &RunGuard, index: usize, call: ToolCall) -> Result<(usize, ToolResult), Interrupted> {
        let result = flow::execute(self, run, call, Target::Registered, None).await?;
        Ok((index, result))
    }
}

impl Plan {
    /// Takes out of `waiting` the steps whose needs all have an outcome.
    fn take_ready(&self, waiting: &mut BTreeSet<usize>, outcomes: &[Option<StepOutcome>]) -> Vec<usize> {
        let is_ready = |step: &usize| self.needs[*step].iter().all(|need| outcomes[*need].is_some());
        let ready: Vec<_> = waiting.iter().copied().filter(is_ready).collect();
        ready.iter().for_each(|step| {
            waiting.remove(step);
        });
        ready
    }

    /// The step's call with every reference replaced by its value.
    fn resolve(&self, index: usize, outcomes: &[Option<StepOutcome>]) -> Result<ToolCall, Skipped> {
        let step = &self.steps[index];
        let mut values = BTreeMap::new();
        for need in &self.needs[index] {
            let id = self.steps[*need].id.as_str();
            match outcomes[*need].as_ref().map(value_of) {
                Some(Ok(value)) => values.insert(id, value),
                Some(Err(reason)) => return Err(Skipped { needs: id.to_owned(), reason }),
                None => None,
            };
        }
        let arguments = substitute(&step.call.arguments, &values)?;
        Ok(ToolCall { arguments, ..step.call.clone() })
    }
}

fn value_of(outcome: &StepOutcome) -> Result<&Value, String> {
    match outcome {
        StepOutcome::Finished(result) => match (result.value(), result.error()) {
            (Some(value), _) => Ok(value),
            (None, Some(error)) => Err(format!("it ended with {}", error.kind)),
            (None, None) => Err("it waits for approval".to_owned()),
        },
        StepOutcome::Skipped(Skipped { needs, .. }) => Err(format!("it was skipped, because it needs {needs:?}")),
    }
}

/// Recursive: arguments are as deep as their author wrote them, and are not input from outside.
fn substitute(value: &Value, values: &BTreeMap<&str, &Value>) -> Result<Value, Skipped> {
    if let Some(Some(text)) = reference(value) {
        let (id, pointer) = split(text);
        let part = values.get(id).and_then(|value| value.pointer(pointer));
        return part
            .cloned()
            .ok_or_else(|| Skipped { needs: id.to_owned(), reason: format!("its value has nothing at {pointer:?}") });
    }
    match value {
        Value::Array(elements) => elements.iter().map(|element| substitute(element, values)).collect(),
        Value::Object(members) => {
            let substituted = members.iter().map(|(name, member)| Ok((name.clone(), substitute(member, values)?)));
            Ok(Value::Object(substituted.collect::<Result<_, _>>()?))
        }
        scalar => Ok(scalar.clone()),
    }
}
