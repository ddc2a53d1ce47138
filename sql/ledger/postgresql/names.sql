select distinct name from measurements
