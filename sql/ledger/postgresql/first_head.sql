insert into head (seq, sha256) values (%(seq)s, %(sha256)s)
