import type { Options } from '@anthropic-ai/claude-agent-sdk';

/** What Claude Code takes for a yes in its environment. */
const yes = ['1', 'true', 'yes', 'on'];

/**
 * Refuses options that have Claude Code start in its bare mode: it calls no hooks there, so that nothing would be
 * recorded, and what the guard denies would run.
 *
 * @throws TypeError where they do
 */
export function refuseBareMode({ extraArgs = {}, env = process.env }: Options): void {
  const isBare =
    Object.hasOwn(extraArgs, 'bare') || yes.includes(String(env.CLAUDE_CODE_SIMPLE).trim().toLowerCase());
  if (!isBare) return;
  throw new TypeError(
    'actlog was given options of a bare Claude Code, which calls no hooks: nothing would be recorded or guarded. ' +
      'Leave out `bare` in `extraArgs` and CLAUDE_CODE_SIMPLE in the environment.',
  );
}
