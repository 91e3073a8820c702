import type { QueryOf } from '@actlog/protocol';

/** Query parameters of a list of sessions. Times are Dates, or ISO 8601 in UTC with a trailing `Z`. */
export type SessionFilters<Name extends 'sessions.list' | 'agents.sessions' = 'sessions.list'> = {
  [Field in keyof QueryOf<Name>]:
    | QueryOf<Name>[Field]
    | (Field extends 'startedAfter' | 'startedBefore' ? Date : never);
};
