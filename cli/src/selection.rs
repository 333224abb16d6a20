//! Which cases of a file.

use windtunnel_sim::case::Case;

use crate::failure::Failure;

/// The cases of a file, or the one with the id.
pub(crate) fn cases(file: &str, id: Option<&str>) -> Result<Vec<Case>, Failure> {
    let cases = Case::load(file)?;
    match id {
        None => Ok(cases),
        Some(id) => {
            let ids = ids(&cases);
            let chosen = cases.into_iter().find(|case| case.id() == id);
            let missing = || Failure::Selection(format!("{file}: there is no case {id:?}; it holds: {ids}"));
            Ok(vec![chosen.ok_or_else(missing)?])
        }
    }
}

/// The only case of a file, or the one with the id, and whether it has to be named.
pub(crate) fn case(file: &str, id: Option<&str>) -> Result<Case, Failure> {
    let mut cases = cases(file, id)?;
    match (cases.pop(), cases.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(last), false) => {
            cases.push(last);
            let problem = format!("{file} holds {} cases; choose one with --case: {}", cases.len(), ids(&cases));
            Err(Failure::Selection(problem))
        }
        (None, _) => Err(Failure::Selection(format!("{file}: there is no case in it"))),
    }
}

/// How many ids a message lists.
const IDS_MAX: usize = 20;

fn ids(cases: &[Case]) -> String {
    let mut ids: Vec<&str> = cases.iter().map(Case::id).take(IDS_MAX).collect();
    if cases.len() > IDS_MAX {
        ids.push("…");
    }
    ids.join(", ")
}
