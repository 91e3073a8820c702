import { SessionsById } from '@actlog/recorder/adapter';

/** Sessions of runs, stored when the messages are known and looked up when steps end. */
export const runSessions: SessionsById = new SessionsById('@actlog/ai-sdk/run-sessions');
