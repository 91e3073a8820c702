import type { AdapterOptions } from '@actlog/recorder/adapter';

/** Settings of the adapter. All are optional. */
export interface ActlogOptions extends AdapterOptions {}
