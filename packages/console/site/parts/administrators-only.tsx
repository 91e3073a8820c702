/** Text for a user whose key may not see a page, with the way to it. */
export function AdministratorsOnly({ what }: { what: string }) {
  return (
    <p class="empty">
      {what} are for administrators. Sign in with a key that has all scopes, on a server with key management.
    </p>
  );
}
