import { type TagBits, tagBits } from './tag.ts';
import { nameParts, words } from './tokens.ts';
import type { ToolProfile } from './tool-profile.ts';

/**
 * Kinds of tools by how far their effects reach:
 *
 * - `outgoing`: sends, publishes or pays something, or changes rights and secrets;
 * - `destructive`: deletes something shared;
 * - `record`: changes a shared record, such as an event, a task or a row;
 * - `local`: works on the agent's own files, code, notes or agents;
 * - `execution`: runs code or a command, or controls a computer;
 * - `read`: changes nothing.
 */
export const actKinds = ['outgoing', 'destructive', 'record', 'local', 'execution', 'read'] as const;

/** One of {@link actKinds}. */
export type ActKind = (typeof actKinds)[number];

const outgoing = tagBits('external_comm', 'payment', 'credential', 'admin');
const deleteBit = tagBits('delete');
const exec = tagBits('exec');
const internal = tagBits('agent_msg', 'memory_write');

/** Objects that others see as soon as they are written, although they are tasks. */
const tracked = new Set('discussion issue issues pr pull ticket'.split(' '));
/** Words for the agent's own plan and for its working copy. */
const own = new Set('branch commit git plan repo stash todo todos worktree'.split(' '));

/** Returns the kind of a tool from its name, its classification, and its tags (the tenant's own, where there are any). */
export function actKindOf(
  toolName: string,
  { noun, verb }: ToolProfile,
  bits: TagBits,
  acts: boolean,
): ActKind {
  if (!acts) return 'read';
  if (bits & outgoing) return 'outgoing';
  const base = words(nameParts(toolName).base);
  if (base.includes('push')) return 'outgoing';
  if (bits & exec) return 'execution';
  if (bits & deleteBit) return noun === 'code' ? 'local' : 'destructive';
  if (bits & internal) return 'local';
  if (noun === 'task' && base.some((word) => tracked.has(word))) return 'outgoing';
  if (noun === undefined || noun === 'code' || noun === 'fact' || noun === 'file') return 'local';
  return verb === 'write' && words(toolName).some((word) => own.has(word)) ? 'local' : 'record';
}

/** `true` if a tool reaches beyond local work. */
export function reachesBeyond(kind: ActKind): boolean {
  return kind === 'outgoing' || kind === 'destructive' || kind === 'record';
}
