//! A manifest with one more dependency, and otherwise as it was.

use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

/// Where Windtunnel comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Path(String),
    Git(String),
}

/// What is wrong with a manifest.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ManifestError {
    #[error("there is no package")]
    NoPackage,
    #[error("{0}")]
    Invalid(String),
}

/// The manifest with `windtunnel` among the dependencies of its tests; as it is, if it has that.
pub(super) fn with_windtunnel(text: &str, origin: &Origin) -> Result<String, ManifestError> {
    // Ends of lines are put back at the end: those inside of texts too, which are read and written as they are.
    let has_carriage_returns = text.contains("\r\n");
    let read = text.replace("\r\n", "\n");
    let mut manifest: DocumentMut =
        read.parse().map_err(|error: toml_edit::TomlError| ManifestError::Invalid(error.to_string()))?;
    if manifest.get("package").is_none_or(|package| !package.is_table_like()) {
        return Err(ManifestError::NoPackage);
    }
    let has = |table: &str| manifest.get(table).and_then(Item::as_table_like).is_some_and(|it| it.contains_key(NAME));
    if has("dependencies") || has(TABLE) {
        return Ok(text.to_owned());
    }
    let dependencies = manifest.entry(TABLE).or_insert_with(|| Item::Table(Table::new())).as_table_like_mut();
    let wrong = || ManifestError::Invalid(format!("`{TABLE}` is no table"));
    dependencies.ok_or_else(wrong)?.insert(NAME, Item::Value(dependency(origin)));
    let changed = manifest.to_string();
    Ok(if has_carriage_returns { changed.replace('\n', "\r\n") } else { changed })
}

const NAME: &str = "windtunnel";
const TABLE: &str = "dev-dependencies";

fn dependency(origin: &Origin) -> Value {
    let (key, value) = match origin {
        Origin::Path(path) => ("path", path),
        Origin::Git(url) => ("git", url),
    };
    Value::InlineTable(InlineTable::from_iter([(key, value.as_str())]))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn repository() -> Origin {
        Origin::Git("https://a.b/c".to_owned())
    }

    #[test]
    fn comments_and_the_order_of_a_manifest_stay() {
        let manifest = "# Ours.\n[package]\nname   = \"agent\" # as on the door\n\n[dev-dependencies]\nzebra = \"1\"\n\n\
                        [features]\ndefault=[ ]\n";
        assert_snapshot!(with_windtunnel(manifest, &repository()).unwrap(), @r#"
        # Ours.
        [package]
        name   = "agent" # as on the door

        [dev-dependencies]
        zebra = "1"
        windtunnel = { git = "https://a.b/c" }

        [features]
        default=[ ]
        "#);
        let with_path = with_windtunnel("[package]\nname = \"a\"", &Origin::Path("../wind tunnel".to_owned())).unwrap();
        assert_snapshot!(with_path, @r#"
        [package]
        name = "a"

        [dev-dependencies]
        windtunnel = { path = "../wind tunnel" }
        "#);
        let dotted = "dev-dependencies.a = \"1\"\n[package]\nname = \"a\"\n";
        assert_snapshot!(with_windtunnel(dotted, &repository()).unwrap(), @r#"
        dev-dependencies.a = "1"
        dev-dependencies.windtunnel = { git = "https://a.b/c" }
        [package]
        name = "a"
        "#);
    }

    #[test]
    fn lines_end_as_they_did() {
        let manifest = "[package]\r\nname = \"a\"\r\n\r\n[dev-dependencies]\r\nzebra = \"1\"\r\n";
        let changed = with_windtunnel(manifest, &repository()).unwrap();
        assert_eq!(changed, format!("{manifest}windtunnel = {{ git = \"https://a.b/c\" }}\r\n"));
        let manifest =
            "[package]\r\nname = \"a\"\r\ndescription = \"\"\"\r\ntwo\r\nlines\"\"\"\r\n\r\n[dev-dependencies]\r\n";
        let changed = with_windtunnel(manifest, &repository()).unwrap();
        assert_eq!(changed, format!("{manifest}windtunnel = {{ git = \"https://a.b/c\" }}\r\n"));
    }

    #[test]
    fn a_manifest_that_has_it_stays_as_it_is() {
        for table in ["dependencies", "dev-dependencies"] {
            let manifest = format!("[package]\nname = \"a\"\n[{table}]\nwindtunnel = {{path = \"..\"}}\n");
            assert_eq!(with_windtunnel(&manifest, &repository()), Ok(manifest));
        }
    }

    #[test]
    fn what_is_no_manifest_of_a_package_is_refused() {
        assert_eq!(with_windtunnel("[workspace]\n", &repository()), Err(ManifestError::NoPackage));
        for wrong in [
            "[package",
            "[package]\nname=\"a\"\n[dev-dependencies]\n[dev-dependencies]",
            "dev-dependencies=1\n[package]",
        ] {
            assert!(matches!(with_windtunnel(wrong, &repository()), Err(ManifestError::Invalid(_))), "{wrong}");
        }
    }
}
