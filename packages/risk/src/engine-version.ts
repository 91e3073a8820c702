/** Version of the engine: changes with every change of how a score comes about. */
export const ENGINE_VERSION = '1.4.0';

/** SHA-256 of the ruleset's text; see `rulesetText`. A test holds it against the rules. */
export const RULESET_HASH = 'ef424156aebd48dbc1e2d6fb0c92ece3fc95c9dee499955fb5ffe9c2f032e220';
