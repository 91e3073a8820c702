import type { AdapterOptions } from '@actlog/recorder/adapter';

/** Options of the adapter. All are optional. */
export interface ActlogOptions extends AdapterOptions {}
