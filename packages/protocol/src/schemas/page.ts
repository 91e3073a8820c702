import * as z from 'zod';
import { looseObject, strictObject } from './object.ts';

const cursor = {
  /** Opaque cursor of the next page; null if there are no more results. */
  nextCursor: z.string().nullable(),
} as const;

/** Fields of every page (specification, "Page of results"). The name of the items array is not fixed. */
export const fixedPage = looseObject(cursor);

/** Creates the schema of a page as the reference server sends it. */
export function sentPage<Item extends z.ZodType>(item: Item) {
  return strictObject({
    /** The results, newest first. */
    items: z.array(item),
    ...cursor,
  }).meta({ id: `${z.globalRegistry.get(item)?.id}Page` });
}
