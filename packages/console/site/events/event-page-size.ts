/** Maximum number of events per page of the reference server. */
export const eventPageSize = 200;
