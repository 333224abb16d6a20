//! Calls that may repeat one another.

use proptest::collection::vec;
use proptest::prelude::*;

use super::call_limits;
use crate::cases::{ArgumentsCase, CallCase, GuardCase, Policies, ToolPolicy};

/// Arguments from a small pool, so that calls repeat, in two orders of members.
pub fn arguments_cases() -> impl Strategy<Value = ArgumentsCase> + Clone {
    (0_u8..2, prop::bool::weighted(0.1), any::<bool>()).prop_map(|(number, is_float, is_reordered)| ArgumentsCase {
        number,
        is_float,
        is_reordered,
    })
}

/// A call of one of three tools under one of three ids.
pub fn call_cases() -> impl Strategy<Value = CallCase> + Clone {
    (0_u8..3, 0_u8..3, arguments_cases()).prop_map(|(id, tool, arguments)| CallCase {
        id: format!("id-{id}"),
        tool: format!("tool-{tool}"),
        arguments,
    })
}

/// Up to 12 calls of three tools, one in three of which may run once. Of 100 calls at least 10 repeat an earlier one; of
/// 100 cases at least 30 refuse a call for its tool, and 20 for the run's limit.
pub fn guard_cases() -> impl Strategy<Value = GuardCase> {
    let policy =
        prop::bool::weighted(1.0 / 3.0).prop_map(|once_per_run| ToolPolicy { once_per_run, ..ToolPolicy::default() });
    let tools = vec(policy, 3).prop_map(|policies| -> Policies {
        (0..).zip(policies).map(|(number, policy): (u8, _)| (format!("tool-{number}"), policy)).collect()
    });
    (call_limits(), tools, vec(call_cases(), 0..=12)).prop_map(|(calls_max, policies, calls)| GuardCase {
        calls_max,
        policies,
        calls,
    })
}
