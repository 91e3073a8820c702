/**
 * One line that records and guards every tool call that Genkit makes for a model.
 *
 * @packageDocumentation
 */
export type { AdapterOptions as ActlogOptions } from '@actlog/recorder/adapter';
export { actlog } from './actlog.ts';
