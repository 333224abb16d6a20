//! The clients, and where `install` puts them.

use std::ffi::OsString;
use std::path::Path;

/// A client, unmodified, from its registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    /// `openai` for Python.
    OpenAi,
    /// `anthropic` for Python.
    Anthropic,
    /// The crate `async-openai`.
    AsyncOpenAi,
    /// The crate `rig-core`.
    Rig,
}

impl Client {
    pub(crate) const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::AsyncOpenAi, Self::Rig];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai_for_python",
            Self::Anthropic => "anthropic_for_python",
            Self::AsyncOpenAi => "async_openai",
            Self::Rig => "rig",
        }
    }

    pub(crate) fn is_in_rust(self) -> bool {
        matches!(self, Self::AsyncOpenAi | Self::Rig)
    }

    /// How many scenes it plays, of all dialects.
    pub(crate) fn scenes(self) -> usize {
        match self {
            Self::OpenAi => 31,
            Self::Anthropic => 16,
            Self::AsyncOpenAi => 30,
            Self::Rig => 45,
        }
    }

    /// How many of the keys and accounts in its environment it sends.
    pub(crate) fn secrets(self) -> usize {
        match self {
            Self::OpenAi => 3,
            Self::Anthropic => 2,
            Self::AsyncOpenAi => 3,
            Self::Rig => 2,
        }
    }

    /// Whether it repeats requests that were refused for the moment, by itself.
    pub(crate) fn is_patient(self) -> bool {
        self != Self::Rig
    }

    /// How often it asks again after an answer of status 500, though that says that it should not.
    pub(crate) fn obstinacy(self) -> u64 {
        if self == Self::AsyncOpenAi { 3 } else { 0 }
    }

    /// What runs it; `None` if it is not installed.
    pub(crate) fn command(self) -> Option<Vec<OsString>> {
        match self {
            Self::OpenAi => python("openai_client.py"),
            Self::Anthropic => python("anthropic_client.py"),
            Self::AsyncOpenAi => installed("rust/debug/clients", "async-openai".into()),
            Self::Rig => installed("rust/debug/clients", "rig".into()),
        }
    }
}

/// What runs a script in Python; `None` if nothing is installed for it.
pub(crate) fn python(script: &str) -> Option<Vec<OsString>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/python").join(script);
    installed("python/bin/python", script.into_os_string())
}

/// A program in the folder that `install` fills, beside what cargo built, and its first argument.
fn installed(path: &str, argument: OsString) -> Option<Vec<OsString>> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("clients").join(path);
    program.exists().then(|| vec![program.into_os_string(), argument])
}
