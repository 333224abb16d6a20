//! What reviewers do.

use proptest::collection::vec;
use proptest::prelude::*;

use super::durations;
use crate::cases::{Answer, ApprovalScript, ApprovalStep};

/// One answer, at once or after a while. One in five is "later".
pub fn approval_steps() -> impl Strategy<Value = ApprovalStep> + Clone {
    let answers = prop_oneof![
        4 => Just(Answer::Approve),
        1 => Just(Answer::Edit),
        1 => Just(Answer::EditBadly),
        2 => Just(Answer::Deny),
        2 => Just(Answer::Pending),
        1 => Just(Answer::Fail),
    ];
    (durations(), answers).prop_map(|(takes, answer)| ApprovalStep { takes, answer })
}

/// Up to three times "later", and then any answer.
///
/// Of 100 scripts at least 60 say "later" first, 30 approve in the end, 10 deny, 5 each edit, edit badly, and cannot be reached.
pub fn approval_scripts() -> impl Strategy<Value = ApprovalScript> + Clone {
    let later = durations().prop_map(|takes| ApprovalStep { takes, answer: Answer::Pending });
    (vec(later, 0..=3), approval_steps()).prop_map(|(mut steps, last)| {
        steps.push(last);
        ApprovalScript { steps }
    })
}
