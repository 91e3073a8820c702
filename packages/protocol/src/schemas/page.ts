import * as z from 'zod';
import { looseObject, strictObject } from './object.ts';

const cursor = {
  /** Opaque: the `cursor` of the next page; null when there are no more results. */
  nextCursor: z.string().nullable(),
} as const;

/** What every page has (specification, "Page of results"). The name of the items array is left open. */
export const fixedPage = looseObject(cursor);

/** A page as the reference server sends it. */
export function sentPage<Item extends z.ZodType>(item: Item) {
  return strictObject({
    /** The results, newest first. */
    items: z.array(item),
    ...cursor,
  }).meta({ id: `${z.globalRegistry.get(item)?.id}Page` });
}
