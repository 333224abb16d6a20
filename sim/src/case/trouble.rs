//! What goes wrong in the runs of a case.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};
use windtunnel_core::event::EventKind;
use windtunnel_core::json::Path;

use super::build::Refusal;
use super::suggestion::known;
use super::typed::problem;
use super::wire::{PositiveSeconds, WireFault, WireRandomFaults};
use crate::fault::{Fault, FaultAction, FaultKind, FaultPlan, FaultPlanError, RandomFaults};
use crate::{Schedule, World};

/// Within which time a run must come to its end after its faults are over: what a campaign asks for too.
const FINISH_WITHIN: Duration = Duration::from_secs(24 * 60 * 60);

/// What goes wrong in every run of a case.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    pub(super) plan: FaultPlan,
    pub(super) random: Option<RandomFaults>,
    pub(super) heal_after: Option<Duration>,
    /// In which order the tasks of hosts go on.
    pub(super) schedule: Option<Schedule>,
}

/// The world that a case runs in.
pub(super) struct Setting {
    pub(super) world: World,
    /// Whether tools, models and journals say when they are about to act, and take faults there. A case without faults has
    /// no such events.
    pub(super) takes_faults: bool,
}

impl Trouble {
    pub(super) fn is_none(&self) -> bool {
        self.plan.faults.is_empty() && self.random.is_none()
    }

    /// The world of a seed.
    pub(super) fn setting(&self, seed: u64) -> Setting {
        let mut world = World::new(seed).faults(self.plan.clone());
        if let Some(random) = &self.random {
            world = world.random_faults(random.clone());
        }
        if let Some(heal_after) = self.heal_after {
            world = world.heal_after(heal_after).time_limit(heal_after.saturating_add(FINISH_WITHIN));
        }
        Setting { world: self.ordered(world), takes_faults: !self.is_none() }
    }

    /// Refuses faults of hosts that there are not.
    pub(super) fn check_hosts(&self, hosts: &[String], root: &Path) -> Result<(), Refusal> {
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        for (index, fault) in self.plan.faults.iter().enumerate() {
            let named = [
                ("when", "host", fault.when.host()),
                ("do", "host", fault.action.host()),
                ("do", "peer", fault.action.peer()),
            ];
            let stranger = |name: &Option<&str>| name.is_some_and(|name| !hosts.contains(&name));
            let Some((part, member, Some(name))) = named.into_iter().find(|(.., name)| stranger(name)) else {
                continue;
            };
            let path = root.clone().member("faults").element(index).member(part).member(member);
            let problem = if hosts.is_empty() {
                format!("there is no host {name:?}: nothing of this case runs on hosts")
            } else {
                format!("there is no host {name:?}; {}", known(name, &hosts))
            };
            return Err(Refusal::new(path, problem));
        }
        Ok(())
    }

    /// The world with the order that the file asks for.
    pub(super) fn ordered(&self, world: World) -> World {
        match &self.schedule {
            Some(schedule) => world.schedule(schedule.clone()),
            None => world,
        }
    }
}

/// Refuses faults that are none.
pub(super) fn trouble(
    faults: Vec<WireFault>,
    random: Option<WireRandomFaults>,
    heal_after_s: Option<PositiveSeconds>,
    root: &Path,
) -> Result<Trouble, Refusal> {
    let path = root.clone().member("faults");
    let mut plan = FaultPlan::default();
    for (index, WireFault { when, action }) in faults.into_iter().enumerate() {
        let at = |name: &str| path.clone().element(index).member(name);
        if let Some(event) = when.event().filter(|event| !EventKind::NAMES.contains(event)) {
            let problem = format!("there is no event {event:?}; {}", known(event, &EventKind::NAMES));
            return Err(Refusal::new(at("when").member("event"), problem));
        }
        plan.faults.push(Fault::new(when, read_action(&action, &at("do"))?));
    }
    plan.check().map_err(|error| impossible(&error, &path))?;
    let heal_after = heal_after_s.map(|heal_after| heal_after.0);
    Ok(Trouble { plan, random: random.map(random_faults), heal_after, schedule: None })
}

fn impossible(error: &FaultPlanError, faults: &Path) -> Refusal {
    let at = |index: usize| faults.clone().element(index);
    let path = match error {
        FaultPlanError::Number { index, field, .. } => at(*index).member("do").member(*field),
        FaultPlanError::Loss { index, .. } => at(*index).member("do").member("loss"),
        FaultPlanError::Never { index } => at(*index).member("when").member("nth"),
        FaultPlanError::Json(_) => faults.clone(),
    };
    Refusal::new(path, error.to_string())
}

fn random_faults(wire: WireRandomFaults) -> RandomFaults {
    let mut faults = RandomFaults::of(wire.kinds.unwrap_or_else(|| FaultKind::ALL.into()));
    if let Some(rate) = wire.rate {
        faults = faults.rate(rate.0);
    }
    if let Some(max) = wire.max {
        faults = faults.faults_max(max.0);
    }
    if wire.swarm { faults.in_swarms() } else { faults }
}

/// Reads what a fault does: its kind first, since its fields depend on that.
fn read_action(value: &Value, path: &Path) -> Result<FaultAction, Refusal> {
    let Value::Object(members) = value else {
        return Err(Refusal::new(path.clone(), "what a fault does is an object with its kind as `fault`"));
    };
    let Some(kind) = members.get(KIND).and_then(Value::as_str) else {
        return Err(Refusal::new(path.clone(), "missing field fault: the kind of the fault, a text"));
    };
    let kinds = FaultKind::ALL.map(FaultKind::name);
    if !kinds.contains(&kind) {
        let problem = format!("there is no fault {kind:?}; {}", known(kind, &kinds));
        return Err(Refusal::new(path.clone().member(KIND), problem));
    }
    FaultAction::deserialize(value).map_err(|error| {
        wrong_member(members, path).unwrap_or_else(|| {
            let (pointing, problem) = problem(&error.to_string());
            Refusal::pointing(pointing, path.clone(), problem)
        })
    })
}

const KIND: &str = "fault";

/// The first member that does not fit whatever the others are. serde does not say which it is.
fn wrong_member(members: &Map<String, Value>, path: &Path) -> Option<Refusal> {
    members.iter().filter(|(name, _)| *name != KIND).find_map(|(name, member)| {
        let alone: Map<_, _> =
            [(KIND.to_owned(), members.get(KIND)?.clone()), (name.clone(), member.clone())].into_iter().collect();
        let error = FaultAction::deserialize(&Value::Object(alone)).err()?.to_string();
        if error.starts_with("missing field") {
            return None;
        }
        let (pointing, problem) = problem(&error);
        Some(Refusal::pointing(pointing, path.clone().member(&**name), problem))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::case::{Case, Format};

    /// A case of each kind with these fields.
    fn cases(fields: &str) -> Vec<String> {
        let program = r#"{"schema_version": "2.0", "body": [{"type": "tool_call", "tool": "a", "arguments": {}}]}"#;
        let step = r#"{"key": "k", "kind": "tool", "callable": "a", "version": "1", "arguments": {}}"#;
        [
            r#""tools": [{"name": "a"}], "calls": [{"name": "a"}]"#.to_owned(),
            format!(r#""tools": [{{"name": "a"}}], "program": {program}"#),
            format!(r#""steps": [{step}]"#),
            r#""tools": [{"name": "a"}], "model": {"turns": [{"calls": [{"name": "a"}]}, {"says": "x"}]}"#.to_owned(),
        ]
        .map(|kind| format!("{{{kind},\n{fields}}}"))
        .to_vec()
    }

    fn parse(text: &str) -> Case {
        Case::parse("f", Format::Json, text).unwrap().remove(0)
    }

    #[track_caller]
    fn check_refused(fields: &str, place: &str, message: &str) {
        for text in cases(fields) {
            let error = Case::parse("f", Format::Json, &text).unwrap_err().to_string();
            let (found, told) = error.split_once(": ").unwrap();
            assert!(found == place && told.starts_with(message), "{error}");
        }
    }

    #[test]
    fn a_case_of_each_kind_takes_a_fault_and_says_that_it_came() {
        let fault = r#"{"when": {"event": "tool.body", "tool": "a"}, "do": {"fault": "tool.duplicate"}}"#;
        for text in cases(&format!(
            r#""faults": [{fault}], "always": [
                {{"that": "faults.size() == 1 && invocations.size() == 2"}},
                {{"each": "faults", "that": "it.kind == 'tool.duplicate' && it.host == null && it.at_ms == 0.0"}},
                {{"each": "faults", "that": "it.when.tool == 'a' && it.do.fault == it.kind"}},
                {{"that": "events.exists(e, e.type == 'fault.delivered' && e.data.fault == 'tool.duplicate')"}}
            ]"#
        )) {
            let case = parse(&text);
            let run = case.check_determinism(0).unwrap();
            assert_eq!(case.judge(&run).failures(), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_case_without_faults_has_no_events_of_seams() {
        for text in cases(r#""heal_after_s": 5"#) {
            let run = parse(&text).run(0);
            let is_seam = |name: &str| ["tool.body", "model.request", "journal.commit"].contains(&name);
            assert!(run.trace().iter().all(|event| !is_seam(event.kind.name())), "{text}");
        }
    }

    #[test]
    fn models_and_journals_take_faults() {
        for (kind, fault) in [
            (2, r#"{"event": "journal.commit"}, "do": {"fault": "journal.refuse_commit"}"#),
            (3, r#"{"event": "journal.commit", "nth": 3}, "do": {"fault": "journal.lose_acknowledgment"}"#),
            (3, r#"{"event": "model.request"}, "do": {"fault": "model.overloaded"}"#),
        ] {
            let case = parse(&cases(&format!(r#""faults": [{{"when": {fault}}}]"#))[kind]);
            assert_eq!(case.run(0).faults().len(), 1, "{fault}");
        }
    }

    #[test]
    fn a_plan_of_which_nothing_comes_fails_its_case() {
        for text in cases(r#""faults": [{"when": {"event": "tool.body", "nth": 9}, "do": {"fault": "tool.hang"}}]"#) {
            let case = parse(&text);
            let verdict = case.judge(&case.run(3));
            assert_eq!(verdict.problem, None);
            assert_eq!(
                verdict.failures(),
                [
                    "$.faults: of 1 planned faults none came: their events did not, or there was nothing for them to act on"
                ]
            );
        }
    }

    #[test]
    fn faults_may_be_drawn() {
        let fields = r#""random_faults": {"kinds": ["tool.duplicate"], "rate": 0.5, "max": 3}"#;
        for text in cases(fields) {
            let case = parse(&text);
            assert!(case.draws() && !case.expects_of(1));
            let came = (0..20).filter(|seed| !case.run(*seed).faults().is_empty()).count();
            assert!((1..20).contains(&came), "{came} of 20: {text}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_fault_is_refused_with_its_place() {
        let event = r#""faults": [{"when": {"event": "tool.bdy"}, "do": {"fault": "tool.hang"}}]"#;
        check_refused(
            event,
            "f:2:31",
            r#"$.faults[0].when.event: there is no event "tool.bdy"; did you mean "tool.body"? known: run.started, "#,
        );
        let with = |action: &str| format!(r#""faults": [{{"when": {{}}, "do": {action}}}]"#);
        for (action, message) in [
            ("7", "$.faults[0].do: what a fault does is an object with its kind as `fault`"),
            ("{}", "$.faults[0].do: missing field fault: the kind of the fault, a text"),
            (r#"{"fault": "tool.delay"}"#, "$.faults[0].do: missing field delay_s"),
        ] {
            check_refused(&with(action), "f:2:31", message);
        }
        check_refused(
            &with(r#"{"fault": "host.crsh"}"#),
            "f:2:41",
            r#"$.faults[0].do.fault: there is no fault "host.crsh"; did you mean "host.crash"? known: tool.error, "#,
        );
        check_refused(
            &with(r#"{"fault": "host.crash", "restart_s": 1}"#),
            "f:2:55",
            r#"$.faults[0].do.restart_s: unknown field "restart_s"; known: host, restart_after_s"#,
        );
        check_refused(
            &with(r#"{"fault": "host.crash", "restart_after_s": "1"}"#),
            "f:2:74",
            r#"$.faults[0].do.restart_after_s: invalid type: string "1", expected a number"#,
        );
        check_refused(
            &with(r#"{"fault": "host.crash", "restart_after_s": -1}"#),
            "f:2:74",
            "$.faults[0].do.restart_after_s: fault 0: `restart_after_s` of host.crash is -1; it must be",
        );
        check_refused(
            r#""faults": [{"when": {"nth": 0}, "do": {"fault": "tool.hang"}}]"#,
            "f:2:29",
            "$.faults[0].when.nth: fault 0: events are counted from 1, and `nth` is 0",
        );
        check_refused(
            r#""faults": [{"when": {"evnt": "mark"}, "do": {"fault": "tool.hang"}}]"#,
            "f:2:22",
            r#"$.faults[0].when.evnt: unknown field "evnt"; did you mean "event"? known: event, host, tool, key, nth"#,
        );
        check_refused(
            r#""faults": [{"when": {"host": "bank"}, "do": {"fault": "tool.hang"}}]"#,
            "f:2:30",
            r#"$.faults[0].when.host: there is no host "bank": nothing of this case runs on hosts"#,
        );
        check_refused(
            r#""random_faults": {"kinds": ["tool.hangs"]}"#,
            "f:2:29",
            r#"$.random_faults.kinds[0]: unknown value "tool.hangs"; did you mean "tool.hang"? known: "#,
        );
    }

    #[test]
    fn a_fault_of_a_host_that_there_is_not_is_refused_with_its_place() {
        let refused = |fault: &str| {
            let tools = r#""tools": [{"name": "a", "host": "bank"}]"#;
            let text = format!(
                r#"{{"on_hosts": true, "model": {{"turns": [{{"says": "x"}}]}}, {tools}, "workers": {{"count": 2}}, "faults": [{fault}]}}"#
            );
            Case::parse("f", Format::Json, &text).map(drop).map_err(|error| error.to_string())
        };
        let hosts = r#"did you mean "bank"? known: journal, model, bank, agent-1, agent-2"#;
        assert_eq!(
            refused(r#"{"when": {"host": "bnak"}, "do": {"fault": "host.crash"}}"#).unwrap_err(),
            format!(r#"f:1:153: $.faults[0].when.host: there is no host "bnak"; {hosts}"#)
        );
        assert_eq!(
            refused(r#"{"when": {}, "do": {"fault": "host.crash", "host": "bnak"}}"#).unwrap_err(),
            format!(r#"f:1:186: $.faults[0].do.host: there is no host "bnak"; {hosts}"#)
        );
        refused(r#"{"when": {"host": "agent-2"}, "do": {"fault": "network.reset", "peer": "bank"}}"#).unwrap();
    }

    #[test]
    fn a_time_of_healing_bounds_what_never_ends() {
        let case: Value = json!({
            "tools": [{"name": "a", "script": [{"fail": "hang"}]}], "calls": [{"name": "a"}], "heal_after_s": 5,
        });
        let run = parse(&case.to_string()).run(0);
        assert_eq!(run.elapsed().as_secs(), 24 * 60 * 60 + 5);
        assert!(run.problem().is_some());
    }
}
