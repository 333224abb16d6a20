//! Deliberate mistakes, and the points that must find them.

/// A mistake of a limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    CountsWhenDone,
    AllowsOneCallMore,
    CountsRefusedCalls,
    AllowsOneMoreAtOnce,
    AllowsOneLessAtOnce,
    ServesTheLastFirst,
    ServesNobodyAfterADrop,
    KeepsPlacesOfAllButErrors,
    KeepsPlacesOfErrors,
    KeepsPlacesOfPanics,
    KeepsPlacesOfDropped,
    KeepsPlacesOfWaiting,
    CountsCostsWhenDone,
    RefusesWhatJustFits,
    CountsRefusedCosts,
    WrapsCosts,
    AllowsOneMoreInAWindow,
    NeverOpensAWindow,
    OpensWindowsLate,
}

/// Each mistake with a point that it must break.
pub(crate) const CAUGHT: &[(Flaw, &str)] = &[
    (Flaw::CountsWhenDone, "calls_max"),
    (Flaw::AllowsOneCallMore, "calls_exact"),
    (Flaw::CountsRefusedCalls, "refused_is_no_call"),
    (Flaw::AllowsOneMoreAtOnce, "at_once"),
    (Flaw::AllowsOneLessAtOnce, "at_once_reached"),
    (Flaw::ServesTheLastFirst, "waiting_in_order"),
    (Flaw::ServesNobodyAfterADrop, "waiting_served"),
    (Flaw::KeepsPlacesOfAllButErrors, "released_by_value"),
    (Flaw::KeepsPlacesOfErrors, "released_by_error"),
    (Flaw::KeepsPlacesOfPanics, "released_by_panic"),
    (Flaw::KeepsPlacesOfDropped, "released_by_drop"),
    (Flaw::KeepsPlacesOfWaiting, "released_by_waiting"),
    (Flaw::CountsCostsWhenDone, "cost_max"),
    (Flaw::RefusesWhatJustFits, "cost_exact"),
    (Flaw::CountsRefusedCosts, "cost_exact"),
    (Flaw::WrapsCosts, "cost_huge"),
    (Flaw::AllowsOneMoreInAWindow, "window_max"),
    (Flaw::NeverOpensAWindow, "window_exact"),
    (Flaw::OpensWindowsLate, "window_edge"),
];
