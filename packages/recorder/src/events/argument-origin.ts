/** Source of the value of an argument. Names only: no value, and no hash of a value. */
export interface ArgumentOrigin {
  /**
   * - `user`: it stands in what the user said.
   * - `system`: it stands in the system prompt.
   * - `tool`: it stands in the result of an earlier call of the session.
   * - `model`: it stands in none of these: the model wrote it, or rephrased it.
   * - `unknown`: not found, but older texts were dropped from memory or were never seen in full.
   */
  readonly from: 'user' | 'system' | 'tool' | 'model' | 'unknown';
  /** For `tool`: `field` if it was a value of its own in the result, `text` if it was part of running text. */
  readonly as?: 'field' | 'text';
  /** For `tool`: name of the tool of the earlier call. */
  readonly toolName?: string;
  /** For `tool`: id of the event of the earlier call. */
  readonly eventId?: string;
}

/**
 * Origins of a call's arguments by path: keys joined with dots, without the indexes of lists, such as `recipient` or
 * `address.city`. The elements of a list share a path, and the least trusted origin stands for all.
 */
export type ArgumentOrigins = Readonly<Record<string, ArgumentOrigin>>;
