insert into salts (key, salt) values (%(key)s, %(salt)s)
on conflict do nothing
