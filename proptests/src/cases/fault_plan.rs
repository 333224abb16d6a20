//! What plans of faults are about.

use windtunnel_sim::fault::FaultKind;

/// What there is in a world that a plan of faults can name. A plan is as good as its names: a host that a world does not
/// have is refused, and an event that never comes brings no fault.
///
/// ```
/// use windtunnel_proptests::cases::FaultScope;
/// use windtunnel_sim::fault::FaultKind;
///
/// let crashes = FaultScope { kinds: vec![FaultKind::HostCrash], ..FaultScope::of_hosts(["agent", "bank"]) };
/// assert_eq!(crashes.faults_max, 5);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultScope {
    /// The kinds of fault. Default: all. Where there are none, no plan has a fault.
    pub kinds: Vec<FaultKind>,
    /// The hosts that events and actions may name. Default: none, so that none is named.
    pub hosts: Vec<String>,
    /// The tools that events may be about. Default: none.
    pub tools: Vec<String>,
    /// The keys that events may be about: of operations, or idempotency keys of effects. Default: none.
    pub keys: Vec<String>,
    /// How many faults a plan has at the most. Default 5.
    pub faults_max: usize,
    /// The last of the events that match at which a fault may come, from 1. Default 20.
    pub nth_max: u64,
}

impl Default for FaultScope {
    fn default() -> Self {
        let (hosts, tools, keys) = (Vec::new(), Vec::new(), Vec::new());
        Self { kinds: FaultKind::ALL.into(), hosts, tools, keys, faults_max: 5, nth_max: 20 }
    }
}

impl FaultScope {
    /// All kinds of fault, in a world with these hosts.
    pub fn of_hosts<H: Into<String>>(hosts: impl IntoIterator<Item = H>) -> Self {
        Self { hosts: hosts.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}
