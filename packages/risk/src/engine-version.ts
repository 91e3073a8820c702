/** Version of the engine; changes with every change to the scoring. */
export const currentEngineVersion = '2.2.0';

/** SHA-256 of the ruleset's text; see `rulesetText`. A test compares it with the rules. */
export const currentRulesetHash = '7edb0082b632cbdb199ae904c14a844519c334b6b702e59318fee86387a62c5e';
