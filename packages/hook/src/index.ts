/**
 * Records and guards the tools of coding agents by their hooks.
 *
 * @packageDocumentation
 */
export { type AgentName, agents, isAgentName } from './dialects/dialect.ts';
export type { HookPlace, InstallHookOptions } from './install/hook-command.ts';
export { type HookChange, installHook, removeHook } from './install/install-hook.ts';
export { version } from './version.ts';
