import { recordMiddleware } from './middleware.ts';

/**
 * Records every tool call of a `generate`, a `generateStream` or a prompt, and guards it if the recorder's guard is on:
 *
 * ```ts
 * await ai.generate({ model, tools, prompt, use: [actlog()] });
 * ```
 *
 * Put it first in the list, so that it sees each call once, even if inner middleware retries it. A `generate` inside a
 * tool needs its own.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordMiddleware = recordMiddleware;
