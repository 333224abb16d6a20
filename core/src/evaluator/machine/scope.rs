//! What names stand for while an expression is evaluated.

use std::sync::Arc;

use super::super::datum::Datum;
use super::super::syntax::Binding;
use super::frame::Values;

/// The values of a lambda's or a user function's parameters, inside those of the lambda around it.
#[derive(Debug)]
pub(super) struct Scope {
    parent: Option<Arc<Self>>,
    values: Values,
}

impl Scope {
    pub(super) fn new(parent: Option<Arc<Self>>, values: Values) -> Arc<Self> {
        Arc::new(Self { parent, values })
    }

    pub(super) fn get(&self, binding: Binding) -> Option<&Datum> {
        let mut scope = self;
        for _ in 0..binding.levels {
            scope = scope.parent.as_deref()?;
        }
        scope.values.get(binding.index as usize)
    }
}

/// One after another: a chain of scopes may be as long as a program is deep (V9).
impl Drop for Scope {
    fn drop(&mut self) {
        let mut parent = self.parent.take();
        while let Some(mut last) = parent.and_then(Arc::into_inner) {
            parent = last.parent.take();
        }
    }
}
