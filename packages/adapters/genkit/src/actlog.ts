import { recordMiddleware } from './middleware.ts';

/**
 * Records every tool call of a `generate`, a `generateStream` or a prompt, and guards it where the recorder's guard
 * says so:
 *
 * ```ts
 * await ai.generate({ model, tools, prompt, use: [actlog()] });
 * ```
 *
 * Put it first in the list, so that it sees a call once, however often middleware further in tries it. A `generate`
 * within a tool needs its own.
 *
 * @throws when neither a recorder is given nor the environment holds one that can be used; see `sharedRecorder`
 */
export const actlog: typeof recordMiddleware = recordMiddleware;
