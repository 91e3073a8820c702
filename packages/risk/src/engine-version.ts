/** Version of the engine: changes with every change of how a score comes about. */
export const ENGINE_VERSION = '1.3.0';

/** SHA-256 of the ruleset's text; see `rulesetText`. A test holds it against the rules. */
export const RULESET_HASH = '674e3f75601de12ee66c987c4dd33c86e7f257a3d559b14074facbd66bb9812b';
