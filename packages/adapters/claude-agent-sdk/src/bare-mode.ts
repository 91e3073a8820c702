import type { Options } from '@anthropic-ai/claude-agent-sdk';

/** Values that Claude Code treats as true in its environment. */
const yes = ['1', 'true', 'yes', 'on'];

/**
 * Rejects options that start Claude Code in bare mode, which calls no hooks: nothing would be recorded, and calls that
 * the guard denies would run.
 *
 * @throws TypeError for such options
 */
export function refuseBareMode({ extraArgs = {}, env = process.env }: Options): void {
  const isBare =
    Object.hasOwn(extraArgs, 'bare') || yes.includes(String(env.CLAUDE_CODE_SIMPLE).trim().toLowerCase());
  if (!isBare) return;
  throw new TypeError(
    'The options start a bare Claude Code, which calls no hooks: nothing would be recorded or guarded. ' +
      'Remove `bare` from `extraArgs` and CLAUDE_CODE_SIMPLE from the environment.',
  );
}
