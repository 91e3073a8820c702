/** Version of the engine; changes with every change to the scoring. */
export const ENGINE_VERSION = '1.6.0';

/** SHA-256 of the ruleset's text; see `rulesetText`. A test compares it with the rules. */
export const RULESET_HASH = 'a47e5dd68c5467e53c2a4bf0ba91b817d64c4bccedc1add589fb854889df3518';
