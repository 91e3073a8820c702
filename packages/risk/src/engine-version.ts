/** Version of the engine: changes with every change of how a score comes about. */
export const ENGINE_VERSION = '1.0.0';

/** SHA-256 of the ruleset's text; see `rulesetText`. A test holds it against the rules. */
export const RULESET_HASH = '799b739560a12869f1eb01d8104656f4d31d8a4f14754bb25faa3c2f172a4034';
