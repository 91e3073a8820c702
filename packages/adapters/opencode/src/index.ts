/**
 * A plugin that records and guards every tool call of opencode.
 *
 * opencode takes each export of a plugin for a plugin, so there is only one.
 *
 * @packageDocumentation
 */
export type { AdapterOptions as ActlogOptions } from '@actlog/recorder/adapter';
export { actlog } from './actlog.ts';
