/** Version of the engine: changes with every change of how a score comes about. */
export const ENGINE_VERSION = '1.0.0';

/** SHA-256 of the ruleset's text; see `rulesetText`. A test holds it against the rules. */
export const RULESET_HASH = 'ee23bfcb2f526a8ad0139d18b7016dbf68ebc42b4526d122697f9b43f1474256';
