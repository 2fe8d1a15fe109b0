//! The YAML form, held by its own small cases; an official reader compares it with the JSON form elsewhere.

use serde_json::json;

use super::yaml;

#[test]
fn yaml_is_block_form_with_quoted_strings() {
    let document = json!({
        "openapi": "3.1.0", "no": [], "on": {}, "list": [1, "a: b", {"x": null}, [true]],
        "text": "two\nlines \u{7f}\u{85}\u{2028} é # not a comment",
    });
    let expected = concat!(
        "\"openapi\": \"3.1.0\"\n",
        "\"no\": []\n",
        "\"on\": {}\n",
        "\"list\":\n",
        "  - 1\n",
        "  - \"a: b\"\n",
        "  -\n",
        "    \"x\": null\n",
        "  -\n",
        "    - true\n",
        "\"text\": \"two\\nlines \\u007f\\u0085\\u2028 é # not a comment\"\n",
    );
    assert_eq!(yaml::write(&document), expected);
}
