//! Reading what may be no program, and evaluating what is one (V1, V2, V9).

use std::num::NonZeroU64;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::Value;
use windtunnel_core::evaluator::{ExecutionLimits, Program};
use windtunnel_proptests::cases::{ProgramCase, ProgramTree};
use windtunnel_proptests::strategies::{json_values, mutated_programs, program_cases, programs};

use crate::settings::family;
use windtunnel_proptests::properties::evaluated::{Evaluated, Turns, evaluate, evaluate_program};

/// Reads from a value and from text, which must agree, and uses all that a program or a refusal offers.
fn read(json: &Value) -> Result<Option<Program>, TestCaseError> {
    let (from_value, from_text) = (Program::from_value(json), Program::parse(&json.to_string(), Program::BOUNDS));
    match (from_value, from_text) {
        (Ok(program), Ok(same)) => {
            prop_assert!(program == same);
            let written = program.to_json();
            let again = Program::parse(&written, Program::BOUNDS)
                .map_err(|refusal| TestCaseError::fail(refusal.to_string()))?;
            prop_assert!(again == program, "{} is read as another program", written);
            prop_assert_eq!(again.to_json(), written);
            prop_assert_eq!(again.tools().collect::<Vec<_>>(), program.tools().collect::<Vec<_>>());
            prop_assert!(program.outline().to_string().lines().count() >= program.node_count());
            Ok(Some(program))
        }
        (Err(refusal), Err(same)) => {
            prop_assert!(!refusal.offences().is_empty() && !refusal.to_string().is_empty());
            let paths = |offences: &[windtunnel_core::evaluator::Offence]| -> Vec<String> {
                offences.iter().map(|offence| format!("{}: {}", offence.path, offence.problem)).collect()
            };
            prop_assert_eq!(paths(refusal.offences()), paths(same.offences()));
            Ok(None)
        }
        (from_value, from_text) => Err(TestCaseError::fail(format!("{from_value:?} and {from_text:?}"))),
    }
}

/// Evaluates whatever it is, within limits.
fn evaluate_any(program: &Program, case: &ProgramCase) -> Result<Evaluated, TestCaseError> {
    let limits = ExecutionLimits {
        max_nodes: NonZeroU64::new(2_000),
        max_call_depth: NonZeroU64::new(100),
        timeout: Some(Duration::from_secs(60)),
        ..case.limits
    };
    let case = ProgramCase { limits, ..case.clone() };
    let evaluated = evaluate_program(program, &case, Turns::Written)?;
    prop_assert!(evaluated.consumption.peak_call_depth <= 100);
    Ok(evaluated)
}

/// The members of every object in the other order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            Value::Object(members.iter().rev().map(|(name, member)| (name.clone(), reversed(member))).collect())
        }
        Value::Array(elements) => elements.iter().map(reversed).collect(),
        scalar => scalar.clone(),
    }
}

proptest! {
    #![proptest_config(family!("program-reading"))]

    #[test]
    fn any_json_is_read_or_refused(json in json_values()) {
        read(&json)?;
    }

    #[test]
    fn mutated_programs_are_refused_or_come_to_an_end(json in mutated_programs(), case in program_cases()) {
        if let Some(program) = read(&json)? {
            evaluate_any(&program, &case)?;
        }
    }

    #[test]
    fn a_program_means_the_same_when_it_is_written_and_read(case in program_cases()) {
        let program = read(&case.program.to_json())?.unwrap();
        let evaluated = evaluate(&case)?;
        let again = Program::parse(&program.to_json(), Program::BOUNDS).unwrap();
        let same = evaluate_program(&again, &case, Turns::Written)?;
        prop_assert_eq!(&same.told, &evaluated.told);
        prop_assert_eq!((same.consumption, same.elapsed), (evaluated.consumption, evaluated.elapsed));
        prop_assert_eq!(same.events, evaluated.events);
    }

    #[test]
    fn the_order_of_members_means_nothing_in_version_1(program in programs()) {
        if let ProgramTree::Version1(_) = &program {
            let reversed = Program::from_value(&reversed(&program.to_json())).unwrap();
            // Values keep their own order.
            prop_assert_eq!(reversed.node_count(), Program::from_value(&program.to_json()).unwrap().node_count());
            let case = ProgramCase::plain(program);
            let (evaluated, same) = (evaluate(&case)?, evaluate_program(&reversed, &case, Turns::Written)?);
            prop_assert_eq!((&same.end, same.consumption), (&evaluated.end, evaluated.consumption));
        }
    }

    #[test]
    fn a_part_of_a_text_is_refused(program in programs(), part in 0.0..1.0) {
        let text = program.to_json().to_string();
        let length = text.char_indices().map(|(at, _)| at).filter(|at| (*at as f64) < part * text.len() as f64).max();
        prop_assert!(Program::parse(&text[..length.unwrap_or(0)], Program::BOUNDS).is_err());
    }
}
