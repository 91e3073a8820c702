/** Version of the engine; changes with every change to the scoring. */
export const ENGINE_VERSION = '1.5.2';

/** SHA-256 of the ruleset's text; see `rulesetText`. A test compares it with the rules. */
export const RULESET_HASH = '30662281b9310a566272bad3455ad1ce7f814c1e6a1ffdffee84fbaa08c0326b';
