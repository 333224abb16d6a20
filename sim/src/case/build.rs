//! From a document to a case, refusing what no run could make sense of.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use windtunnel_core::json::Path;

use super::always::{Assertion, Expression};
use super::cassettes::Library;
use super::definition::{Case, Kind};
use super::error::LoadError;
use super::text::{Document, Pointing};
use super::trouble::Trouble;
use super::wire::{WireAlways, WireParameter};
use super::{agent, calls, operations, program, typed};
use crate::script::Then;

/// Something that is well formed and still makes no sense.
pub(super) struct Refusal {
    pub(super) path: Path,
    pointing: Pointing,
    pub(super) problem: String,
}

impl Refusal {
    pub(super) fn new(path: Path, problem: impl Into<String>) -> Self {
        Self::pointing(Pointing::AtValue, path, problem)
    }

    pub(super) fn pointing(pointing: Pointing, path: Path, problem: impl Into<String>) -> Self {
        Self { path, pointing, problem: problem.into() }
    }

    pub(super) fn in_document(self, document: &Document<'_>) -> LoadError {
        document.error(self.path, self.pointing, self.problem)
    }
}

/// What a kind makes of a document.
pub(super) struct Built {
    pub(super) id: Option<String>,
    pub(super) seed: u64,
    pub(super) trouble: Trouble,
    pub(super) assertions: Vec<Assertion>,
    pub(super) kind: Box<dyn Kind>,
}

/// Reads one case. Without an id of its own it gets one from `place`, its place in the file.
pub(super) fn case(document: &Document<'_>, place: usize, library: &Arc<Library>) -> Result<Case, LoadError> {
    let Built { id, seed, trouble, assertions, kind } = match typed::text_member(document, "kind") {
        Some("calls") => calls::build(document, library),
        Some("program") => program::build(document, library),
        Some("operations") => operations::build(document),
        Some("agent") => agent::build(document, library),
        Some(kind) => {
            let path = document.root.clone().member("kind");
            let problem = format!(
                "cases of kind {kind:?} cannot be run by this version; it knows: calls, program, operations, agent"
            );
            Err(document.error(path, Pointing::AtValue, problem))
        }
        None if document.value.get("program").is_some() => program::build(document, library),
        None if document.value.get("steps").is_some() => operations::build(document),
        None if document.value.get("model").is_some() => agent::build(document, library),
        None => calls::build(document, library),
    }?;
    trouble.check_hosts(&kind.hosts(), &document.root).map_err(|refusal| refusal.in_document(document))?;
    let id = id.unwrap_or_else(|| format!("case-{place}"));
    let source = document.value.clone();
    let library = Arc::clone(library);
    Ok(Case { id, place: document.begin.clone(), source, library, seed, trouble, assertions, kind })
}

/// The schemas of parameters, by name.
pub(super) fn properties(parameters: &IndexMap<String, WireParameter>) -> Map<String, Value> {
    let property = |parameter: WireParameter| match parameter.type_name() {
        Some(name) => json!({"type": name}),
        None => json!({}),
    };
    parameters.iter().map(|(name, parameter)| (name.clone(), property(*parameter))).collect()
}

pub(super) fn parameters_and_schema(tool: &Path) -> Refusal {
    Refusal::new(tool.clone().member("schema"), "a tool has either parameters or a schema; remove one of them")
}

/// How a step of a script ends.
pub(super) fn ending<F>(fail: Option<Then<F>>, ok: Option<Value>, step: &Path) -> Result<Then<F>, Refusal> {
    match (fail, ok) {
        (Some(_), Some(_)) => {
            let problem = "an attempt either fails or answers; remove fail or ok";
            Err(Refusal::new(step.clone().member("ok"), problem))
        }
        (Some(fail), None) => Ok(fail),
        (None, ok) => Ok(Then::Answer(ok)),
    }
}

/// The assertions over `variables`; `each` of them may be one of their lists.
pub(super) fn assertions<E: Into<&'static str>>(
    wire: Vec<WireAlways<E>>,
    variables: &'static [&'static str],
    path: &Path,
) -> Result<Vec<Assertion>, Refusal> {
    let assertion = |(index, WireAlways { name, each, that }): (usize, WireAlways<E>)| {
        let each = each.map(Into::into);
        let expression = Expression::compile(&that, &Assertion::variables(each, variables))
            .map_err(|problem| Refusal::new(path.clone().element(index).member("that"), problem))?;
        Ok(Assertion { name, each, expression })
    };
    wire.into_iter().enumerate().map(assertion).collect()
}
