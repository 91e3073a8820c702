import type { AdapterOptions } from '@actlog/recorder/adapter';

/** Settings of the adapter. All are optional. There is no guard: a span tells of a call that has run. */
export type ActlogOptions = Omit<AdapterOptions, 'guard'>;
