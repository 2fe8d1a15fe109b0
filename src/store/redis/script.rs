//! The Lua scripts, and one call of one of them. Must not know what they do.

use redis::{FromRedisValue, RedisError, Script};

use super::link::Link;

/// Every script of the store.
pub(super) struct Scripts {
    pub(super) facts: Script,
    pub(super) key: Script,
    pub(super) alive: Script,
    pub(super) beat: Script,
    pub(super) repair: Script,
    pub(super) settle: Script,
    pub(super) confirm: Script,
    pub(super) pend: Script,
    pub(super) complete: Script,
    pub(super) accept: Script,
    pub(super) take: Script,
    pub(super) mark: Script,
    pub(super) finish: Script,
    pub(super) decide: Script,
    pub(super) recover: Script,
    pub(super) remove: Script,
    pub(super) restore: Script,
    pub(super) claim: Script,
    pub(super) enter: Script,
    pub(super) end: Script,
    pub(super) call: Script,
}

impl Scripts {
    pub(super) fn new() -> Self {
        let prelude = concat!(
            include_str!("lua/prelude.lua"),
            "\n",
            include_str!("lua/guard.lua")
        );
        let with_prelude = |body: &str| Script::new(&format!("{prelude}\n{body}"));
        Self {
            facts: Script::new(include_str!("lua/facts.lua")),
            key: with_prelude(include_str!("lua/key.lua")),
            alive: with_prelude(include_str!("lua/alive.lua")),
            beat: with_prelude(include_str!("lua/beat.lua")),
            repair: with_prelude(include_str!("lua/repair.lua")),
            settle: with_prelude(include_str!("lua/settle.lua")),
            confirm: with_prelude(include_str!("lua/confirm.lua")),
            pend: with_prelude(include_str!("lua/pend.lua")),
            complete: with_prelude(include_str!("lua/complete.lua")),
            accept: with_prelude(include_str!("lua/accept.lua")),
            take: with_prelude(include_str!("lua/take.lua")),
            mark: with_prelude(include_str!("lua/mark.lua")),
            finish: with_prelude(include_str!("lua/finish.lua")),
            decide: with_prelude(include_str!("lua/decide.lua")),
            recover: with_prelude(include_str!("lua/recover.lua")),
            remove: with_prelude(include_str!("lua/remove.lua")),
            restore: with_prelude(include_str!("lua/restore.lua")),
            claim: Script::new(include_str!("lua/claim.lua")),
            enter: Script::new(include_str!("lua/enter.lua")),
            end: Script::new(include_str!("lua/end.lua")),
            call: Script::new(include_str!("lua/call.lua")),
        }
    }
}

/// One call: the script, the key prefix, texts.
pub(super) struct Step<'a> {
    script: &'a Script,
    prefix: &'a str,
    arguments: Vec<String>,
}

impl<'a> Step<'a> {
    pub(super) fn new(script: &'a Script, prefix: &'a str) -> Self {
        Self {
            script,
            prefix,
            arguments: Vec::new(),
        }
    }

    pub(super) fn arg(&mut self, argument: impl Into<String>) -> &mut Self {
        self.arguments.push(argument.into());
        self
    }

    pub(super) async fn run<T: FromRedisValue>(
        self,
        connection: &mut Link,
    ) -> Result<T, RedisError> {
        let mut call = self.script.key(self.prefix);
        call.arg(self.arguments);
        call.invoke_async(connection).await
    }
}
