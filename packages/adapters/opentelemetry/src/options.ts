import type { RecordOnlyOptions } from '@actlog/recorder/adapter';

/**
 * Options of the adapter. All are optional. There is no guard, because a span describes a call that has already run.
 */
export type ActlogOptions = RecordOnlyOptions;
