import { SessionsById } from '@actlog/recorder/adapter';

/** The sessions of runs, which are told where their messages are and asked for where their steps are. */
export const runSessions: SessionsById = new SessionsById('@actlog/ai-sdk/run-sessions');
