/** A place of the console: the part of an address after `#`, in the visible ASCII that browsers report. */
const place = /^#\/[\x21-\x7e]{0,2000}$/;

/**
 * Returns the place of the console that a person returns to after the sign-in. Only the part after `#` is taken from the
 * request, so a link can lead to no other page and to no other site.
 */
export function returnPlace(wanted: unknown): string {
  return typeof wanted === 'string' && place.test(wanted) ? wanted : '#/';
}
