/**
 * Returns the name of the one who decided: the person if the deployment knows it, with the key that was used.
 *
 * @param id - `key_…` for a key, `usr_…` for a person who was signed in
 */
export function actorName(id: string, principal: string | null | undefined): string {
  if (principal == null) return id;
  return id.startsWith('usr_') ? principal : `${principal} (${id})`;
}
