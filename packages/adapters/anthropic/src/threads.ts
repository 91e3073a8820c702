import { SessionsById } from '@actlog/recorder/adapter';

/** The sessions of messages that a thread may be continued from: it is sent only what is new then. */
export const threadSessions: SessionsById = new SessionsById('@actlog/anthropic/threads');
