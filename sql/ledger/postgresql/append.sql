insert into entries (seq, body, sha256) values (%(seq)s, %(body)s, %(sha256)s)
