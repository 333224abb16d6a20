//! Plans of faults.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use windtunnel_sim::EventPattern;
use windtunnel_sim::fault::{Fault, FaultAction, FaultKind, FaultPlan};

use crate::cases::FaultScope;

/// Lengths of time in seconds, from none to a day.
const SECONDS: [f64; 12] = [0.0, 0.001, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 60.0, 600.0, 3600.0, 86_400.0];

/// The longest time that a plan may name.
const SECONDS_MAX: f64 = 1e10;

/// Events of steps, at which something of the world can go wrong.
const STEPS: [&str; 9] = [
    "tool.body",
    "model.request",
    "journal.commit",
    "effect.happened",
    "operation.started",
    "operation.executed",
    "operation.committed",
    "activation.decided",
    "host.started",
];
const ON_NETWORK: [&str; 2] = ["network.send", "network.connect"];
const ON_DISK: [&str; 2] = ["disk.sync", "disk.write"];

/// Plans that can be carried out, of any kinds of fault in the scope, about the hosts, tools and keys that it names. They
/// shrink to fewer faults, at the first event of its name alone, which last as short as can be; the time that a fault lasts
/// shrinks to none before it is left out.
///
/// Of 100 plans of all kinds at least 10 have no fault, and 60 several; 30 have a fault of tools and 30 one of models, 20 each
/// one of the network, of hosts and of disks, 10 each one of journals and of clocks. Of 100 faults at least 75 name their event,
/// and 45 come at another than the first that matches; where there are hosts 20 name one, and where there are tools and keys 20
/// name one of those.
///
/// ```
/// use proptest::prelude::*;
/// use windtunnel_proptests::cases::FaultScope;
/// use windtunnel_proptests::strategies;
///
/// proptest! {
///     fn a_plan_is_read_as_it_was_written(plan in strategies::fault_plans(&FaultScope::default())) {
///         prop_assert_eq!(windtunnel_sim::FaultPlan::from_json(&plan.to_json()).unwrap(), plan);
///     }
/// }
/// a_plan_is_read_as_it_was_written();
/// ```
pub fn fault_plans(scope: &FaultScope) -> BoxedStrategy<FaultPlan> {
    if scope.kinds.is_empty() || scope.faults_max == 0 {
        return Just(FaultPlan::default()).boxed();
    }
    vec(faults(scope), 0..=scope.faults_max).prop_map(FaultPlan::new).boxed()
}

/// Plans that must be refused when they are checked: one that can be carried out, and a fault with a number that means
/// nothing: of a time below 0 or without end, of a likelihood above 1, or of an event before the first.
pub fn refused_fault_plans(scope: &FaultScope) -> impl Strategy<Value = FaultPlan> + use<> {
    let never = [-1.0, -f64::MIN_POSITIVE, 1.1 * SECONDS_MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let broken = prop_oneof![
        select(never.to_vec()).prop_map(|delay_s| FaultAction::ToolDelay { delay_s }),
        select(never.to_vec())
            .prop_map(|after_s| FaultAction::HostCrash { host: None, restart_after_s: Some(after_s) }),
        select(vec![f64::NAN, f64::INFINITY, -1.1 * SECONDS_MAX])
            .prop_map(|by_s| FaultAction::ClockJump { host: None, by_s }),
        select(vec![1.0 + f64::EPSILON, -0.1, f64::NAN]).prop_map(|loss| FaultAction::NetworkLoss {
            host: None,
            peer: None,
            loss,
            heal_after_s: None
        }),
    ];
    let broken = prop_oneof![
        4 => broken.prop_map(|action| Fault::new(EventPattern::any(), action)),
        1 => Just(Fault::new(EventPattern::any().nth(0), FaultAction::ToolHang {})),
    ];
    (fault_plans(scope), broken, any::<prop::sample::Index>()).prop_map(|(mut plan, broken, place)| {
        plan.faults.insert(place.index(plan.faults.len() + 1), broken);
        plan
    })
}

fn faults(scope: &FaultScope) -> impl Strategy<Value = Fault> + use<> {
    let scope = scope.clone();
    // The kind is no simpler for being an earlier one, but a plan of one kind is simpler than one of several.
    select(scope.kinds.clone()).prop_flat_map(move |kind| {
        (event_patterns(kind, &scope), fault_actions(kind, &scope.hosts))
            .prop_map(|(when, action)| Fault::new(when, action))
    })
}

/// The events at which a fault of this kind can come, and sometimes any; seldom with a host, a tool or a key.
///
/// It shrinks to the first event of a name.
pub fn event_patterns(kind: FaultKind, scope: &FaultScope) -> impl Strategy<Value = EventPattern> + use<> {
    let names = select(events_of(kind)).prop_map(EventPattern::named);
    let events = prop_oneof![6 => names, 1 => Just(EventPattern::any())];
    let nth_max = scope.nth_max.max(1);
    let nth = prop_oneof![4 => 1..=nth_max.min(3), 3 => 1..=nth_max];
    let (host, tool, key) = (seldom(&scope.hosts), seldom(&scope.tools), seldom(&scope.keys));
    (events, host, tool, key, nth).prop_map(|(event, host, tool, key, nth)| {
        let event = host.map_or(event.clone(), |host| event.on_host(host));
        let event = tool.map_or(event.clone(), |tool| event.of_tool(tool));
        key.map_or(event.clone(), |key| event.with_key(key)).nth(nth)
    })
}

fn events_of(kind: FaultKind) -> Vec<&'static str> {
    match kind.name().split_once('.').map_or("", |(target, _)| target) {
        "tool" => vec!["tool.body"],
        "model" => vec!["model.request"],
        "journal" => vec!["journal.commit"],
        "network" => ON_NETWORK.to_vec(),
        "disk" => ON_DISK.to_vec(),
        _ => STEPS.to_vec(),
    }
}

/// One of these in one case of five, if there are any.
fn seldom(names: &[String]) -> BoxedStrategy<Option<String>> {
    if names.is_empty() { Just(None).boxed() } else { prop::option::weighted(0.2, select(names.to_vec())).boxed() }
}

/// What a fault of this kind does, on the host of its event or on one of these. Times are from none to a day, and one in 30
/// is the longest that there is; what has an end has one in six cases of seven.
pub fn fault_actions(kind: FaultKind, hosts: &[String]) -> BoxedStrategy<FaultAction> {
    let name = kind.name();
    match name.split_once('.').map_or(name, |(target, _)| target) {
        "network" => network_actions(kind, hosts),
        "tool" | "model" | "journal" => guest_actions(kind),
        _ => host_actions(kind, hosts),
    }
}

fn guest_actions(kind: FaultKind) -> BoxedStrategy<FaultAction> {
    match kind {
        FaultKind::ToolDelay => seconds().prop_map(|delay_s| FaultAction::ToolDelay { delay_s }).boxed(),
        FaultKind::ToolLateAnswer => seconds().prop_map(|delay_s| FaultAction::ToolLateAnswer { delay_s }).boxed(),
        FaultKind::ToolHang => Just(FaultAction::ToolHang {}).boxed(),
        FaultKind::ToolDuplicate => Just(FaultAction::ToolDuplicate {}).boxed(),
        FaultKind::ToolLoseAcknowledgment => Just(FaultAction::ToolLoseAcknowledgment {}).boxed(),
        FaultKind::ToolMalformedResult => Just(FaultAction::ToolMalformedResult {}).boxed(),
        FaultKind::ModelRateLimited => {
            ends().prop_map(|retry_after_s| FaultAction::ModelRateLimited { retry_after_s }).boxed()
        }
        FaultKind::ModelServerError => Just(FaultAction::ModelServerError {}).boxed(),
        FaultKind::ModelOverloaded => Just(FaultAction::ModelOverloaded {}).boxed(),
        FaultKind::ModelDelay => seconds().prop_map(|delay_s| FaultAction::ModelDelay { delay_s }).boxed(),
        FaultKind::ModelTimeout => seconds().prop_map(|after_s| FaultAction::ModelTimeout { after_s }).boxed(),
        FaultKind::ModelStalledStream => {
            seconds().prop_map(|after_s| FaultAction::ModelStalledStream { after_s }).boxed()
        }
        FaultKind::ModelTruncatedStream => Just(FaultAction::ModelTruncatedStream {}).boxed(),
        FaultKind::ModelMalformedJson => Just(FaultAction::ModelMalformedJson {}).boxed(),
        FaultKind::ModelRefusal => Just(FaultAction::ModelRefusal {}).boxed(),
        FaultKind::ModelWrongTool => Just(FaultAction::ModelWrongTool {}).boxed(),
        FaultKind::JournalLoseAcknowledgment => Just(FaultAction::JournalLoseAcknowledgment {}).boxed(),
        FaultKind::JournalRefuseCommit => Just(FaultAction::JournalRefuseCommit {}).boxed(),
        _ => any::<bool>().prop_map(|is_final| FaultAction::ToolError { retryable: !is_final }).boxed(),
    }
}

fn network_actions(kind: FaultKind, hosts: &[String]) -> BoxedStrategy<FaultAction> {
    let ends_of_links = links(hosts);
    match kind {
        FaultKind::NetworkLatency => (ends_of_links, seconds(), ends())
            .prop_map(|((host, peer), latency_s, heal_after_s)| FaultAction::NetworkLatency {
                host,
                peer,
                latency_s,
                heal_after_s,
            })
            .boxed(),
        FaultKind::NetworkLoss => (ends_of_links, select(vec![0.0, 0.01, 0.1, 0.5, 0.99, 1.0]), ends())
            .prop_map(|((host, peer), loss, heal_after_s)| FaultAction::NetworkLoss { host, peer, loss, heal_after_s })
            .boxed(),
        FaultKind::NetworkReset => {
            ends_of_links.prop_map(|(host, peer)| FaultAction::NetworkReset { host, peer }).boxed()
        }
        _ => (ends_of_links, any::<bool>(), ends())
            .prop_map(|((host, peer), one_way, heal_after_s)| FaultAction::NetworkPartition {
                host,
                peer,
                one_way,
                heal_after_s,
            })
            .boxed(),
    }
}

fn host_actions(kind: FaultKind, hosts: &[String]) -> BoxedStrategy<FaultAction> {
    let host = seldom(hosts);
    match kind {
        FaultKind::HostRestart => host.prop_map(|host| FaultAction::HostRestart { host }).boxed(),
        FaultKind::ClockSkew => {
            (host, signed_seconds()).prop_map(|(host, ahead_s)| FaultAction::ClockSkew { host, ahead_s }).boxed()
        }
        FaultKind::ClockJump => {
            (host, signed_seconds()).prop_map(|(host, by_s)| FaultAction::ClockJump { host, by_s }).boxed()
        }
        _ => (host, ends()).prop_map(move |(host, end_s)| lasting(kind, host, end_s)).boxed(),
    }
}

/// What lasts until then.
fn lasting(kind: FaultKind, host: Option<String>, end_s: Option<f64>) -> FaultAction {
    match kind {
        FaultKind::HostPowerCut => FaultAction::HostPowerCut { host, restart_after_s: end_s },
        FaultKind::HostPause => FaultAction::HostPause { host, resume_after_s: end_s },
        FaultKind::DiskTornWrite => FaultAction::DiskTornWrite { host, restart_after_s: end_s },
        FaultKind::DiskLoseFlush => FaultAction::DiskLoseFlush { host, heal_after_s: end_s },
        FaultKind::DiskFull => FaultAction::DiskFull { host, heal_after_s: end_s },
        FaultKind::DiskError => FaultAction::DiskError { host, heal_after_s: end_s },
        _ => FaultAction::HostCrash { host, restart_after_s: end_s },
    }
}

/// Two ends of a link, which are not the same.
fn links(hosts: &[String]) -> impl Strategy<Value = (Option<String>, Option<String>)> + use<> {
    (seldom(hosts), seldom(hosts)).prop_map(|(host, peer)| {
        let is_loop = host.is_some() && host == peer;
        (host, if is_loop { None } else { peer })
    })
}

fn seconds() -> impl Strategy<Value = f64> + Clone {
    let usual = (0..SECONDS.len()).prop_map(|place| SECONDS[place]);
    prop_oneof![29 => usual, 1 => Just(SECONDS_MAX)]
}

fn signed_seconds() -> impl Strategy<Value = f64> {
    (seconds(), any::<bool>()).prop_map(|(seconds, is_back)| if is_back { 0.0 - seconds } else { seconds })
}

/// When something ends: mostly it does.
fn ends() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![6 => seconds().prop_map(Some), 1 => Just(None)]
}
