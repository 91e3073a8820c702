/** Version of the engine: changes with every change of how a score comes about. */
export const ENGINE_VERSION = '1.5.0';

/** SHA-256 of the ruleset's text; see `rulesetText`. A test holds it against the rules. */
export const RULESET_HASH = 'ab2ed3b339c01ce7990c48403310f413622e55a2584e010586cc213853690094';
