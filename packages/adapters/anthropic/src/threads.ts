import { SessionsById } from '@actlog/recorder/adapter';

/** Sessions of messages that a thread may continue from, because such a request contains only new messages. */
export const threadSessions: SessionsById = new SessionsById('@actlog/anthropic/threads');
