#!/bin/sh
# Creates the role and the database of actlog when the volume is new. The server refuses a superuser, because row-level
# security would not apply to it.
set -eu
psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=password="$POSTGRES_PASSWORD" --username="$POSTGRES_USER" <<'SQL'
create role actlog login password :'password';
create database actlog owner actlog encoding 'UTF8' locale 'C' template template0;
SQL
