/** Version of the engine; changes with every change to the scoring. */
export const ENGINE_VERSION = '1.6.0';

/** SHA-256 of the ruleset's text; see `rulesetText`. A test compares it with the rules. */
export const RULESET_HASH = '0caa2552c5bfa2de5ec22633b87ea48cf90ada737fab643c8d8cf5d90cdf7380';
