//! What holds of the effects of durable workflows, whatever was lost (D3, D6, D8).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windtunnel_core::durable::{Commit, Record, Refusal};

use crate::violation::{Violation, require};
use crate::{Effect, EffectLine};

/// Whoever claims an activation is given all the records that were ever stored of it, in their order, and no other; so none
/// is lost, changed or trimmed, and what was refused is not there.
///
/// # Errors
/// [`Violation`] for the first claim that is given something else.
pub fn attempts_read_what_is_stored(lines: &[EffectLine]) -> Result<(), Violation> {
    for (place, line) in lines.iter().enumerate() {
        let Effect::Claimed(records) = &line.effect else { continue };
        let mut stored: Vec<&Arc<Record>> = Vec::new();
        for earlier in lines[..place].iter().filter(|earlier| earlier.shares_activation(line)) {
            match &earlier.effect {
                Effect::RecordStored(record) if !stored.contains(&record) => stored.push(record),
                _ => {}
            }
        }
        require(records.iter().collect::<Vec<_>>() == stored, "D3", || {
            format!("{:?} is given {records:?}, and {stored:?} is stored", line.fence)
        })?;
    }
    Ok(())
}

/// Attempts are counted up, one by one, and one that was overtaken stores nothing; nor does anything follow on a decision.
///
/// # Errors
/// [`Violation`] for the first effect that comes too late.
pub fn overtaken_attempts_store_nothing(lines: &[EffectLine]) -> Result<(), Violation> {
    let mut last = BTreeMap::new();
    let mut decided = BTreeMap::new();
    for line in lines {
        let activation = (&line.fence.workflow_id, &line.fence.activation_id);
        let attempt = last.entry(activation).or_insert(0);
        match &line.effect {
            Effect::Claimed(_) => {
                require(line.fence.attempt == *attempt + 1 && !decided.contains_key(&activation), "D3", || {
                    format!("{:?} is claimed after attempt {attempt}", line.fence)
                })?;
                *attempt = line.fence.attempt;
            }
            Effect::RecordStored(_) => {
                let is_open = line.fence.attempt == *attempt && !decided.contains_key(&activation);
                require(is_open, "D3", || format!("{line:?} comes after attempt {attempt}, or after the decision"))?;
            }
            Effect::DecisionStored(decision) => {
                let first = decided.entry(activation).or_insert((decision, line.fence.attempt));
                let is_it = line.fence.attempt == *attempt && *first == (decision, line.fence.attempt);
                require(is_it, "D3", || format!("{line:?} comes after attempt {attempt}, or after {first:?}"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// An operation whose record was acknowledged does not run again in the attempt that heard it, nor in a later one. In an
/// attempt that does not know yet that it was overtaken, it may (D8).
///
/// # Errors
/// [`Violation`] for the first run that should not be.
pub fn acknowledged_operations_do_not_run_again(lines: &[EffectLine]) -> Result<(), Violation> {
    for (place, line) in lines.iter().enumerate() {
        let Effect::CallableStarted { key, .. } = &line.effect else { continue };
        let known = lines[..place].iter().find(|earlier| {
            let is_it = match &earlier.effect {
                Effect::RecordAnswered(record, Commit::Acknowledged) => record.key() == key,
                _ => false,
            };
            is_it && earlier.shares_activation(line) && earlier.fence.attempt <= line.fence.attempt
        });
        require(known.is_none(), "D2", || format!("{line:?} comes after {known:?}"))?;
    }
    Ok(())
}

/// All runs of one operation carry the same idempotency key, and those of others another one.
///
/// # Errors
/// [`Violation`] for the first run with another key, or with that of another operation.
pub fn idempotency_keys_tell_operations_apart(lines: &[EffectLine]) -> Result<(), Violation> {
    let (mut of_operation, mut of_key) = (BTreeMap::new(), BTreeMap::new());
    for line in lines {
        let Effect::CallableStarted { key, idempotency_key, .. } = &line.effect else { continue };
        let operation = (&line.fence.workflow_id, &line.fence.activation_id, key);
        let first = *of_operation.entry(operation).or_insert(idempotency_key);
        require(first == idempotency_key, "D6", || format!("{line:?} had the key {first} before"))?;
        let owner = *of_key.entry(idempotency_key).or_insert(operation);
        require(owner == operation, "D6", || format!("{line:?} has the key of {owner:?}"))?;
    }
    Ok(())
}

/// A result is given to the entry only after the store has acknowledged it to this very attempt, or has given it to it.
///
/// # Errors
/// [`Violation`] for the first result that comes too early or is another one.
pub fn results_wait_for_their_acknowledgment(lines: &[EffectLine]) -> Result<(), Violation> {
    for (place, line) in lines.iter().enumerate() {
        let Effect::Released(key, output) = &line.effect else { continue };
        let is_it = |record: &Record| record.key() == key && **record.output() == *output;
        let is_known = lines[..place].iter().any(|earlier| {
            earlier.fence == line.fence
                && match &earlier.effect {
                    Effect::Claimed(records) => records.iter().any(|record| is_it(record)),
                    Effect::RecordAnswered(record, Commit::Acknowledged) => is_it(record),
                    _ => false,
                }
        });
        require(is_known, "D3", || format!("{line:?} comes without an acknowledgment"))?;
    }
    Ok(())
}

/// After a commit that was not acknowledged an attempt begins no callable, sends no record and makes no decision; nor does one
/// that was told that it is overtaken before it decided. What was acknowledged before may still be given out, and a decision
/// whose acknowledgment is lost may be sent again.
///
/// # Errors
/// [`Violation`] for the first thing that it does nevertheless.
pub fn poisoned_attempts_stop(lines: &[EffectLine]) -> Result<(), Violation> {
    let (mut stopped, mut decided) = (BTreeMap::new(), BTreeSet::new());
    for line in lines {
        let acts =
            matches!(line.effect, Effect::CallableStarted { .. } | Effect::RecordSent(_) | Effect::DecisionSent(_));
        let by = stopped.get(&line.fence);
        require(!(acts && by.is_some()), "D3", || format!("{line:?} comes after {by:?}"))?;
        let stops = match &line.effect {
            Effect::RecordAnswered(_, commit) => *commit != Commit::Acknowledged,
            Effect::RecordDropped(_) => true,
            Effect::ExtensionAnswered(Commit::Refused(refusal)) => {
                *refusal != Refusal::Rejected && !decided.contains(&line.fence)
            }
            Effect::DecisionSent(_) => {
                decided.insert(&line.fence);
                false
            }
            _ => false,
        };
        if stops {
            stopped.entry(&line.fence).or_insert(&line.effect);
        }
    }
    Ok(())
}

/// An attempt sends no record while it waits for the answer to another one: what is sent next depends on that answer.
///
/// # Errors
/// [`Violation`] for the first record that is sent too early.
pub fn commits_come_one_after_another(lines: &[EffectLine]) -> Result<(), Violation> {
    let mut under_way = BTreeMap::new();
    for line in lines {
        match &line.effect {
            Effect::RecordSent(record) => {
                let other = under_way.insert(&line.fence, record);
                require(other.is_none(), "D3", || format!("{line:?} comes while {other:?} is under way"))?;
            }
            Effect::RecordAnswered(..) | Effect::RecordDropped(_) => drop(under_way.remove(&line.fence)),
            _ => {}
        }
    }
    Ok(())
}

/// Why callables ran more than once, by the reason, and how often.
pub type Repeats = BTreeMap<&'static str, usize>;

/// Every run of an operation beyond its first one is explained by what became of the one before: it failed, it was dropped
/// or given up, its result was not acknowledged, its entry began anew, or it is the run of another attempt that was overtaken
/// (D8).
///
/// # Errors
/// [`Violation`] for the first run that is not.
pub fn repeats_are_explained(lines: &[EffectLine]) -> Result<Repeats, Violation> {
    let mut repeats = Repeats::new();
    let mut last_runs: BTreeMap<_, usize> = BTreeMap::new();
    for (place, line) in lines.iter().enumerate() {
        let Effect::CallableStarted { key, .. } = &line.effect else { continue };
        let operation = (&line.fence.workflow_id, &line.fence.activation_id, key);
        if let Some(before) = last_runs.insert(operation, place) {
            let reason = reason_of_repeat(&lines[before], &lines[before + 1..place], line);
            let Some(reason) = reason else {
                return Err(Violation::new("D8", format!("{line:?} repeats {:?} without a reason", lines[before])));
            };
            *repeats.entry(reason).or_default() += 1;
        }
    }
    Ok(repeats)
}

/// What became of a run until the next one of the same operation.
fn reason_of_repeat(before: &EffectLine, between: &[EffectLine], after: &EffectLine) -> Option<&'static str> {
    let Effect::CallableStarted { key, run, .. } = &before.effect else { return None };
    let is_of = |record: &Record| record.key() == key;
    let told = between.iter().filter(|line| line.fence == before.fence);
    let mut reason = None;
    for line in told {
        match &line.effect {
            Effect::CallableEnded { run: ended, is_ok: false } if ended == run => return Some("it failed"),
            Effect::CallableDropped { run: dropped } if dropped == run => return Some("it was dropped"),
            Effect::RecordAnswered(record, commit) if is_of(record) && *commit != Commit::Acknowledged => {
                reason = Some("its commit was not acknowledged");
            }
            Effect::RecordDropped(record) if is_of(record) => reason = Some("its commit was dropped"),
            // Its callable has ended, and its commit not begun.
            Effect::GivenUp(given_up) if given_up == key && reason.is_none() => return Some("it was given up"),
            Effect::EntryBegan if reason.is_none() => return Some("its entry began anew"),
            _ => {}
        }
    }
    // What an attempt has not committed counts for nothing in another one.
    let is_other = before.fence.attempt != after.fence.attempt;
    match reason {
        Some(reason) => is_other.then_some(reason),
        None if after.fence.attempt < before.fence.attempt => Some("an attempt did not know that it is overtaken"),
        None if is_other => Some("its attempt came to nothing before its commit"),
        None => None,
    }
}
